"""A server put together from its settings."""

from __future__ import annotations

from benchbook.catalog.database import open_catalog
from benchbook.server.access import Access, check_setup
from benchbook.server.app import App
from benchbook.server.audit import Audit
from benchbook.server.events import Events
from benchbook.server.kept import Kept
from benchbook.server.logs import Log, no_log
from benchbook.server.measures import Measures
from benchbook.server.services import STATE_FOLDER, Services, Settings
from benchbook.server.starting import Children
from benchbook.server.submissions import Submissions
from benchbook.server.tags import TagStore
from benchbook.server.watching import Watcher

__all__ = ["make_app"]


def make_app(settings: Settings, log: Log = no_log) -> App:
    """The application; the folder of records is looked through once before it is returned.

    Raises: ConfigError for an address that others can reach, without a token; BenchbookError for a catalog or a folder
    that can't be opened.
    """
    check_setup(settings)
    settings.runs.mkdir(parents=True, exist_ok=True)
    state = settings.runs / STATE_FOLDER
    catalog = open_catalog(settings.catalog)
    made: list[App] = []
    try:
        watcher = Watcher(settings, catalog, lambda found: made[0].changed(found) if made else None)
        services = Services(
            settings=settings,
            catalog=catalog,
            access=Access(settings),
            audit=Audit(state),
            measures=Measures(),
            events=Events(),
            watcher=watcher,
            tags=TagStore(state),
            children=Children(settings),
            submissions=Submissions(settings),
            kept=Kept(settings.kept_bytes),
        )
        watcher.look()
        made.append(App(services, log))
    except BaseException:
        catalog.close()
        raise
    return made[0]
