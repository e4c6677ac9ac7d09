"""`bb.push` and `bb.pull`: records to object stores, and back."""

from __future__ import annotations

from benchbook.library.keywords import FilePath
from benchbook.library.objects import AnyRun, Run, record_of, run_of
from benchbook.library.twins import in_thread
from benchbook.stores.address import store_address
from benchbook.stores.objects import open_objects
from benchbook.stores.pulling import pull_record
from benchbook.stores.pushing import Pushed, push_record


def push(run: AnyRun, store: str, *, runs: FilePath = "runs") -> Pushed:
    """Push a record into an object store, such as "s3://bucket/prefix", as `benchbook push` does.

    What is there already is not put again. Keys come by the environment. The result says how many objects were put.

    Raises: StoreError; TakenError, a kind of it, where the store has another record of this id; UsageError.
    """
    address, record = store_address(store), record_of(run, runs)
    return push_record(open_objects(address / record.run_id), record)


def pull(url: str, *, runs: FilePath = "runs") -> Run:
    """Pull the record at an address such as "s3://bucket/prefix/id" into a folder of records, as `benchbook pull`.

    Inputs and journals are held against their hashes as they come; `bb.verify` shows that the rest holds, too.

    Raises: StoreError; TakenError, a kind of it, where the folder has another record of this id; RecordError where its
    derived files are missing; UsageError.
    """
    address = store_address(url)
    _, run_id = address.of_run()
    return run_of(pull_record(open_objects(address), runs, run_id).record)


push_async = in_thread(push)
pull_async = in_thread(pull)
