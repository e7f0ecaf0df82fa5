"""The Typer application: every command in one place."""

from __future__ import annotations

import typer

from pyweanj.cli import compare, doctor, inputs, listing, new, report, setup

__all__ = ["app"]

app = typer.Typer(
    help="Do Enzyme.jl and JAX compute the same loss and gradient, who is wrong, at what cost?",
    epilog="Every command takes --debug, which shows the traceback of an error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare")(compare.compare)
app.command("new")(new.new)
app.command("report")(report.report)
app.command("diff")(report.diff)
app.command("list")(listing.list_)
app.command("doctor")(doctor.doctor)
app.command("setup")(setup.setup)
app.add_typer(inputs.app, name="inputs")
