# Benchbook's server. Records lie in /data/runs, which is all there is to back up. It runs as whoever owns that folder,
# and listens where others can reach it, so it needs a token first:
#
#     docker build -t benchbook .
#     mkdir -p runs
#     alias server='docker run --rm --user "$(id -u):$(id -g)" -p 127.0.0.1:8400:8400 -v ./runs:/data/runs benchbook'
#     server token create --name me --scope read
#     server
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir ".[server,postgres,tensorboard]"

FROM python:3.13-slim
RUN useradd --no-create-home --uid 10001 benchbook && mkdir -p /data/runs && chown -R 10001:10001 /data
COPY --from=build /venv /venv
# Some other user may run it (--user), who has no home here.
ENV PATH=/venv/bin:$PATH PYTHONUTF8=1 HOME=/tmp
USER 10001:10001
WORKDIR /data
VOLUME /data/runs
EXPOSE 8400
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8400/readyz', timeout=4)"]
ENTRYPOINT ["benchbook"]
CMD ["serve", "--host", "0.0.0.0"]
