"""`benchbook push` and `pull`: records to object stores, and back."""

from __future__ import annotations

import click

from benchbook.cli.completion import complete_run
from benchbook.cli.output import find_record, json_option, print_json, runs_option
from benchbook.text import plural, visible


@click.command()
@click.argument("run", shell_complete=complete_run)
@click.argument("store", metavar="URL")
@runs_option
@json_option
def push(run: str, store: str, runs: str, as_json: bool) -> None:
    """Push RUN into an object store, such as s3://bucket/prefix; it lies in a folder of its id there.

    What is there already is not put again, and nothing that is there is changed but for what is derived. Keys come by
    the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL.
    """
    from benchbook.stores.address import store_address
    from benchbook.stores.objects import open_objects
    from benchbook.stores.pushing import push_record

    address, record = store_address(store), find_record(run, runs)
    found = push_record(open_objects(address / record.run_id), record)
    if as_json:
        print_json({"run": str(record.path), "store": found.address, "n_objects": found.n_objects})
    else:
        new = f"{plural(found.n_objects, 'object')} put" if found.n_objects else "nothing new"
        click.echo(visible(f"{found.address}: {new}"))


@click.command()
@click.argument("url", metavar="URL")
@runs_option
@json_option
def pull(url: str, runs: str, as_json: bool) -> None:
    """Pull the record at URL, such as s3://bucket/prefix/RUN_ID, into the folder of records.

    One that is there goes on where it ends. Inputs are held against their hashes and journals against their chains as
    they come; `benchbook verify` shows that all of the rest holds, too.
    """
    from benchbook.stores.address import store_address
    from benchbook.stores.objects import open_objects
    from benchbook.stores.pulling import pull_record

    address = store_address(url)
    _, run_id = address.of_run()
    found = pull_record(open_objects(address), runs, run_id)
    if as_json:
        print_json({"run": str(found.record.path), "store": str(address), "n_new": found.n_new})
    else:
        click.echo(visible(f"{found.record.path}: pulled" if found.n_new else f"{found.record.path}: nothing new"))
