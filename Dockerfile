# Benchbook's server. Records lie in /data/runs, which is all there is to back up.
#
#     docker build -t benchbook .
#     docker run -p 127.0.0.1:8400:8400 -v ./runs:/data/runs benchbook
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir ".[server,postgres,tensorboard]"

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 benchbook && mkdir -p /data/runs && chown -R benchbook /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUTF8=1
USER benchbook
WORKDIR /data
VOLUME /data/runs
EXPOSE 8400
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8400/readyz', timeout=4)"
# Other addresses than this machine's need a token: `docker run … benchbook token create --name me --scope read`.
ENTRYPOINT ["benchbook"]
CMD ["serve", "--host", "0.0.0.0"]
