# The pkg command alone, as a user without rights; docker-compose.yml builds it.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /source
COPY requirements/build.txt requirements/run.txt requirements/
RUN python -m pip install --no-cache-dir -r requirements/build.txt \
    && python -m pip install --no-cache-dir --prefix=/installed -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY pkg pkg
RUN python -m pip install --no-cache-dir --prefix=/installed --no-deps --no-build-isolation .

FROM ${PYTHON_IMAGE}
COPY --from=build /installed /usr/local
USER 10001:10001
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["pkg"]
CMD ["--help"]
