# cantle in a container, built without a network: every package comes from wheels/.
#
#   pip wheel --wheel-dir wheels '.[fast,report,duckdb]'     # on a machine with a network, same Python and platform
#   docker build --network none -t cantle .
#   docker run --rm --network none --user "$(id -u):$(id -g)" -v "$PWD:/work" \
#     cantle publish table.csv --schema schema.yaml --epsilon 1 -o release
ARG BASE=python:3.11-slim
FROM ${BASE}

COPY wheels/ /wheels/
RUN pip install --no-index --find-links /wheels 'cantle[fast,report,duckdb]'

# Private files are mounted at /work, and the user of the container is not root.
RUN useradd --create-home cantle
USER cantle
WORKDIR /work
ENTRYPOINT ["cantle"]
