"""
    with_large_stack(f; bytes=256 * 2^20)

Run `f()` in a task with a stack of `bytes` and return what it returns; an exception comes
out as it was thrown.

Enzyme's analysis is recursive and can overflow the 4 MiB stack that Julia gives a task.
Memory is taken only as the stack grows.
"""
function with_large_stack(f; bytes::Integer = 256 << 20)
    bytes > 0 || throw(ArgumentError("a stack of $bytes bytes is none"))
    task = Task(f, Int(bytes))
    task.sticky = true # stay on this thread, as a plain call would
    schedule(task)
    try
        wait(task)
    catch
        istaskfailed(task) && throw(task.exception)
        rethrow()
    end
    return task.result
end
