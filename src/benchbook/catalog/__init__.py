"""catalog: the SQL index of records, in SQLite or PostgreSQL (SPEC A5, A6; DESIGN).

catalog     the index: whatever it says stands in a record, and it can be made again from the records at any time
stamp       how a record's files looked when they were indexed: another stamp, and the record is read again

`database` opens one, `indexing` fills it, `queries` and `predictions` read it. Importing any of them imports
SQLAlchemy.
"""
