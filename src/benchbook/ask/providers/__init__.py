"""providers: one file per wire format. How a request is written, sent and read; nothing about when or how often.

model      the candidate (also *target*). Not: system, engine.
answer     what came back for one request.
"""
