"""server: the HTTP API over a folder of records, and the page that is built on it.

    types, comparison_types    what is answered           questions     what may be asked
    operations                 every address of the API   openapi       the document that follows from it
    app                        routing, errors, headers   access        who may do what
    services                   what operations share      settings      how a server is set up
    running                    the process: watched folder, shutdown

operation    one method at one path. Not: route, endpoint (that is a model's address).
problem      an error as it is answered (RFC 9457).

Starlette, uvicorn and SQLAlchemy are imported by the modules in here, so nothing else imports those.
"""
