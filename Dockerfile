# The service with the embedded default: docker build -t rag-intrinsics . && docker run -p 127.0.0.1:8010:8010 \
#   -v "$PWD/token:/run/token:ro" rag-intrinsics        (the file holds the token that requests must send)
FROM python:3.12-slim
RUN useradd --create-home service
COPY . /src
RUN pip install --no-cache-dir "/src[serve]" && rm -rf /src
USER service
EXPOSE 8010
CMD ["intrinsics", "serve", "--host", "0.0.0.0", "--port", "8010", "--token-file", "/run/token"]
