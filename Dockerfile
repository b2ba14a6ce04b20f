# Papershelf as a server over HTTP, or as a command: see compose.yaml.
# docker build -t papershelf .          with models on the machine: --build-arg EXTRAS="embed postgres"
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ARG EXTRAS="postgres"
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY utils utils
COPY docs/papershelf.1 docs/papershelf.1
# The versions that the tests ran with: uv reads them from pyproject.toml, pip would not.
RUN python3 -m venv /opt/papershelf /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir "uv>=0.9" \
    && for extra in $EXTRAS; do echo "--extra=$extra"; done > extras \
    && xargs -a extras /opt/uv/bin/uv export --quiet --no-hashes --no-emit-project -o requirements.txt \
    && /opt/papershelf/bin/pip install --no-cache-dir -r requirements.txt \
    && /opt/papershelf/bin/pip install --no-cache-dir --no-deps .

FROM ${BASE}
RUN useradd --uid 10001 --create-home papershelf \
    && install -d -o papershelf -g papershelf /papers
COPY --from=build /opt/papershelf /opt/papershelf
ENV PATH=/opt/papershelf/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PAPERS_DIR=/papers
USER 10001
WORKDIR /home/papershelf
VOLUME /papers
EXPOSE 3010
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python3", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:3010/healthz', timeout=4)"]
ENTRYPOINT ["papershelf"]
CMD ["--transport", "http", "--host", "0.0.0.0", "--port", "3010"]
