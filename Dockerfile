# docker build -t weftline .
# docker run -p 8080:8080 -e DATABASE_URL=postgres://… -e WEFTLINE_LOCAL_MODE_ANY_ADDRESS=true weftline
#
# The image holds no PostgreSQL: DATABASE_URL names one. Without a login configured the
# server is in local mode, where whoever reaches it is admin, and refuses to listen beyond
# loopback; the second variable says that something else guards the port.
# A worker pool (docker run --no-healthcheck … weftline worker) has no port to be asked at.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /weftline ./app

FROM alpine:3.22
RUN apk add --no-cache ca-certificates tzdata \
 && adduser -D -H -u 10001 weftline
COPY --from=build /weftline /usr/local/bin/weftline
USER 10001
ENV WEFTLINE_ADDR=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD port="${WEFTLINE_ADDR##*:}"; wget -q -O /dev/null "http://127.0.0.1:$port/healthz" \
    || wget -q --no-check-certificate -O /dev/null "https://127.0.0.1:$port/healthz" || exit 1
# SIGTERM drains: running steps are finished or handed back before the process ends.
STOPSIGNAL SIGTERM
ENTRYPOINT ["weftline"]
CMD ["serve"]
