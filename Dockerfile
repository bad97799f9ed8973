# One image for all roles and commands: docker build -t chaintape:0.3.0 .     See docs/deploy.md.
#
# BASE is a Debian with Node 24 and npm. CI builds on one that it makes itself (test/image).
ARG BASE=node:24.21.0-bookworm-slim

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Others bring the compiler along; it has no use at run time.
RUN npm ci --omit=dev \
  && mkdir -p /image/opt/chaintape /image/usr/local/bin /state \
  && cp -a node_modules package.json /image/opt/chaintape/ \
  && rm -r /image/opt/chaintape/node_modules/typescript /image/opt/chaintape/node_modules/@typescript
# All development packages would be 800 MB: the build needs the types of ws, in the locked version.
RUN npm pkg set dependencies.@types/ws="$(npm pkg get devDependencies.@types/ws | tr -d '\"')" \
  && npm pkg delete devDependencies.@types/ws \
  && npm install --omit=dev
COPY tsconfig.json tsconfig.build.json ./
COPY dev/build.ts dev/
COPY src src
RUN node dev/build.ts \
  && mv dist /image/opt/chaintape/ \
  && ln -s /opt/chaintape/dist/main.js /image/usr/local/bin/chaintape
COPY config /image/opt/chaintape/config
COPY deploy/image/healthcheck.js /image/opt/chaintape/

FROM ${BASE}
COPY --from=build /image/ /
# The only place that roles write to. A volume mounted here takes over the owner.
COPY --from=build --chown=65532:65532 /state /var/lib/chaintape
ENV NODE_ENV=production \
  CHAINTAPE_CONFIG=/etc/chaintape/chaintape.yaml \
  CHAINTAPE_DATA_DIR=/var/lib/chaintape
USER 65532:65532
WORKDIR /var/lib/chaintape
VOLUME /var/lib/chaintape
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "/opt/chaintape/healthcheck.js"]
ENTRYPOINT ["chaintape"]
CMD ["all"]
