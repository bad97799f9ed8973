# One image for all roles and commands: docker build -t chaintape:0.3.0 .     See docs/deploy.md.
#
# BASE is a Debian with Node 24 and npm. CI builds on one that it makes itself (test/image).
ARG BASE=node:24.21.0-bookworm-slim

FROM ${BASE} AS terminal
WORKDIR /build
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY web/package.json web/
COPY clients/typescript/package.json clients/typescript/
RUN npm ci --workspace @chaintape/web
# The terminal is built with the client that is beside it.
COPY clients/typescript/src clients/typescript/src
COPY web web
RUN npm run build --workspace @chaintape/web

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# All development packages would be 800 MB: the build needs the types of ws, in the locked version. Others bring the compiler.
RUN npm pkg set dependencies.@types/ws="$(npm pkg get devDependencies.@types/ws | tr -d '\"')" \
  && npm pkg delete devDependencies.@types/ws \
  && npm install --omit=dev
COPY tsconfig.json tsconfig.build.json ./
COPY dev/build.ts dev/
COPY src src
# Neither the compiler nor types have a use at run time.
RUN node dev/build.ts \
  && rm -r node_modules/typescript node_modules/@typescript node_modules/@types node_modules/.bin \
  && mkdir -p /image/opt/chaintape /image/usr/local/bin /state \
  && mv node_modules dist /image/opt/chaintape/ \
  && ln -s /opt/chaintape/dist/main.js /image/usr/local/bin/chaintape
COPY package.json /image/opt/chaintape/
COPY config /image/opt/chaintape/config
COPY deploy/image/healthcheck.js /image/opt/chaintape/

FROM ${BASE}
COPY --from=build /image/ /
COPY --from=terminal /build/web/dist /opt/chaintape/web/dist
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
