# What can go wrong with a model, and how any exception of Julia's is told in one line.

"""
    UnsupportedError(message)

The model has nothing that answers the request; `message` is one line that says why.
"""
struct UnsupportedError <: Exception
    message::String
end

"""
    CompileError(message)

The model cannot be loaded or differentiated; `message` is one line that says why.
"""
struct CompileError <: Exception
    message::String
end

Base.showerror(io::IO, error::Union{UnsupportedError, CompileError}) = print(
    io,
    nameof(typeof(error)),
    ": ",
    error.message,
)

"""
    describe(error, trace=nothing) -> (kind, line)

The name of an exception's type, and its text in one line with the line of the model that led
to it, as far as `trace`, its backtrace, tells it.
"""
describe(error, trace = nothing) = (string(nameof(typeof(error))), one_line(error, trace))
describe(error::Union{UnsupportedError, CompileError, InputsError}, _ = nothing) = (
    string(nameof(typeof(error))),
    error.message,
)

"""
    one_line(error, trace=nothing) -> String

The first line of the text of `error`, with its type where the text does not tell it and the
line of the model that led to it.  Tasks, and files that were loading, are looked through to
the exception inside.
"""
function one_line(error, trace = nothing)
    error isa TaskFailedException && return one_line(error.task.exception, trace)
    error isa CapturedException && return one_line(error.ex, trace)
    if error isa LoadError
        return "$(one_line(error.error)) ($(basename(error.file)):$(error.line))"
    end
    text = sprint(showerror, error)
    line, kind = WEANJ.first_line(text), string(nameof(typeof(error)))
    error isa ErrorException || occursin(kind, line) || (line = "$kind: $line")
    return line * model_line(trace, text)
end

frames(::Nothing) = Base.StackTraces.StackFrame[]
frames(trace::Vector{Base.StackTraces.StackFrame}) = trace
frames(trace) = stacktrace(trace)

# The innermost line of a model in a backtrace, or in the text of an error of Enzyme's, which
# brings a trace of its own.
function model_line(trace, text)
    for frame in frames(trace)
        file = string(frame.file)
        dirname(file) in FOLDERS && return " ($(basename(file)):$(frame.line))"
    end
    for found in eachmatch(r"([^\s:]+\.jl):(\d+)", text)
        file, line = found.captures
        dirname(expanduser(file)) in FOLDERS && return " ($(basename(file)):$line)"
    end
    return ""
end
