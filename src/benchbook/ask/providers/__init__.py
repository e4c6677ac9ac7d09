"""providers: requests written, sent and read, one file per wire format; nothing about when or how often.

model      the candidate (also *target*). Not: system, engine.
answer     what came back for one request.
"""
