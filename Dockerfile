# One image for the five processes; compose.yaml chooses which one a container runs.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY requirements/runtime.txt requirements/runtime.txt
RUN python -m venv /opt/satchel && /opt/satchel/bin/pip install --no-cache-dir -r requirements/runtime.txt
COPY . .
RUN /opt/satchel/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim-bookworm
RUN useradd --create-home --uid 10001 satchel && install -d -o satchel -m 0700 /data
COPY --from=build /opt/satchel /opt/satchel
ENV PATH=/opt/satchel/bin:$PATH PYTHONUNBUFFERED=1 SATCHEL_DATA_DIR=/data
USER satchel
VOLUME /data
ENTRYPOINT ["satchel"]
CMD ["up"]
