# SPDX-License-Identifier: Apache-2.0
# docker build -t handoff . && docker run --rm -v "$PWD:/src" handoff check kernel.cu
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git
WORKDIR /handoff
COPY . .
RUN ./dev package

FROM debian:12
COPY --from=build /handoff/build/release/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends g++ /tmp/*.deb && \
    rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /src
ENTRYPOINT ["handoff"]
CMD ["--help"]
