import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { variables } from '../src/config/index.ts'
import { daemons } from '../src/daemons/index.ts'
import { composeValue, copyOf, instructions, isInContext } from './support/container.ts'
import { blocksOf, commandsOf, pages, ROOT } from './support/documentation.ts'

const FOLDER = join(ROOT, 'deploy', 'systemd')
const units = readdirSync(FOLDER).map((name) => {
  const lines = readFileSync(join(FOLDER, name), 'utf8').split('\n')
  const valuesOf = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
  return { name, valuesOf }
})
const known = new Set([...Object.keys(variables), 'NODE_ENV'])

// Finding N19: what an operator installs on a host.
describe('the units in deploy/systemd', () => {
  it('start Mailplane, the helper, the mail servers, backups and the hook of certificates', () => {
    expect(units.map(({ name }) => name).sort()).toEqual([
      'mailplane-backup.service',
      'mailplane-backup.timer',
      'mailplane-certificates.path',
      'mailplane-certificates.service',
      'mailplane-edge.service',
      'mailplane-helper.service',
      'mailplane.service',
    ])
    const commands = units
      .flatMap(({ valuesOf }) => [...valuesOf('ExecStart'), ...valuesOf('ExecStop')])
      .flatMap((line) => /dist\/main\.js (.*)/.exec(line)?.[1] ?? [])
    expect(commands.sort()).toEqual([
      'backup',
      'edge down',
      'edge up',
      'helper --socket /run/mailplane/helper',
      'serve',
    ])
  })

  // docs/adr/0015-bundled-build.md has the figures.
  it('start the server with the memory limits of npm start, as the image does', () => {
    const starts = [
      units.find(({ name }) => name === 'mailplane.service')?.valuesOf('ExecStart')[0],
      readFileSync(join(ROOT, 'deploy', 'image', 'mailplane'), 'utf8'),
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ]
    for (const start of starts) expect(start).toContain('node --max-semi-space-size=8 ')
  })

  it('set only variables that src/config/ reads', () => {
    const set = units.flatMap(({ valuesOf }) =>
      valuesOf('Environment').flatMap((line) => line.split(' ').map((one) => one.split('=')[0])),
    )
    expect(set.length).toBeGreaterThan(5)
    expect(set.filter((name) => !known.has(name as string))).toEqual([])
  })

  it('run as a user without rights, except the helper and the mail servers', () => {
    const ours = units.filter(({ valuesOf }) => valuesOf('WorkingDirectory').length > 0)
    const asUser = ours.filter(({ valuesOf }) => valuesOf('User')[0] === 'mailplane')
    expect(asUser.map(({ name }) => name).sort()).toEqual([
      'mailplane-backup.service',
      'mailplane.service',
    ])
    for (const { name, valuesOf } of asUser) {
      expect(valuesOf('CapabilityBoundingSet'), name).toEqual([''])
    }
    for (const { name, valuesOf } of ours.filter(({ name }) => name !== 'mailplane-edge.service')) {
      expect(valuesOf('NoNewPrivileges'), name).toEqual(['yes'])
      expect(valuesOf('ProtectSystem'), name).toEqual(['strict'])
    }
  })
})

const image = instructions().filter(({ stage }) => stage === 1)
const textOf = (name: string) => image.find((one) => one.name === name)?.text ?? ''
const environment = Object.fromEntries(
  textOf('ENV')
    .split(' ')
    .map((one) => one.split('=')),
) as Record<string, string>

// The image is not built here; test/faults/container.test.ts follows the Dockerfile without Docker.
describe('the container image', () => {
  it('copies only files that exist and that Dockerfile.dockerignore leaves in', () => {
    const sources = instructions()
      .filter(({ name }) => name === 'COPY')
      .map(copyOf)
      .flatMap((one) => (one.isFromBuild ? [] : one.sources))
    expect(sources).toContain('migrations')
    expect(sources.filter((path) => !existsSync(join(ROOT, path)) || !isInContext(path))).toEqual(
      [],
    )
    expect(isInContext('docs')).toBe(false)
    expect(isInContext('src/log.test.ts')).toBe(false)
  })

  it('leaves out only packages of package.json', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const left = [
      ...instructions()
        .map(({ text }) => text)
        .join()
        .matchAll(/optionalDependencies\.([\w-]+)/g),
    ]
    expect(left.length).toBeGreaterThan(0)
    expect(left.filter(([, name = '']) => !(name in optionalDependencies))).toEqual([])
  })

  it('has the port, the data folder and the files that compose.yaml names', () => {
    expect(
      existsSync(join(ROOT, 'deploy', composeValue('context'), composeValue('dockerfile'))),
    ).toBe(true)
    expect(composeValue('ports')).toBe(`127.0.0.1:8083:${environment.PORT}`)
    expect(textOf('EXPOSE')).toBe(environment.PORT)
    expect(composeValue('volumes')).toBe(`data:${environment.DATA_DIR}`)
    expect(textOf('VOLUME')).toBe(environment.DATA_DIR)
  })

  it('is what the documented docker commands name', () => {
    const commands = pages.flatMap(({ text }) => blocksOf(text)).flatMap(commandsOf)
    const docker = commands.filter((line) => line.startsWith('docker '))
    expect(docker.length).toBeGreaterThan(2)
    for (const line of docker) {
      expect(line).toMatch(
        /^docker compose --file deploy\/compose(\.host)?\.yaml (--env-file \S+ )?(up|build$|exec mailplane|run --rm --no-deps mailplane)( |$)/,
      )
    }
    expect(readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8')).toMatch(
      /^services:\n {2}mailplane:$/m,
    )
    expect(docker.join()).toContain(`cat ${environment.DATA_DIR}/bootstrap-token`)
    expect(commands).toContain('curl -s http://127.0.0.1:8083/health')
  })
})

describe('the commands of deploy/README.md', () => {
  const commands = pages
    .filter(({ path }) => path === 'deploy/README.md')
    .flatMap(({ text }) => blocksOf(text))
    .flatMap(commandsOf)

  it('name only units of deploy/systemd', () => {
    const named = commands.flatMap((line) =>
      (/^systemctl (?:enable --now|start|restart) ([^#]*)/.exec(line)?.[1] ?? '')
        .split(' ')
        .filter(Boolean),
    )
    expect(named).toContain('mailplane-helper')
    // It knows DATA_DIR; `edge up` by hand would make a second mail host in ./data.
    expect(named).toContain('mailplane-edge')
    const names = units.map(({ name }) => name)
    expect(named.filter((name) => !names.includes(`${name}.service`))).toEqual([])
  })

  it('back up and show the plan before every upgrade, and start no mail host of their own', () => {
    const page = pages.find(({ path }) => path === 'deploy/README.md')?.text ?? ''
    const [, upgrade = ''] = page.split('\n# Upgrade\n')
    const recipes = (upgrade.split('\n# ')[0] ?? '').split('\n## ').slice(1)
    expect(recipes).toHaveLength(4)
    for (const recipe of recipes) {
      expect(recipe).toMatch(/mailplane-backup|mailplane backup|BACKUP_BEFORE_MIGRATION=always/)
      expect(recipe).toMatch(/db[ ",]+migrate[ ",]+--plan/)
      expect(recipe).not.toContain('edge up')
    }
  })

  it('install only files of deploy/', () => {
    const sources = commands.flatMap((line) => /^install -m \d+ (\S+)/.exec(line)?.[1] ?? [])
    expect(sources).toContain('deploy/logrotate/mailplane')
    expect(sources.filter((path) => !existsSync(join(ROOT, path.replace('/*', ''))))).toEqual([])
  })
})

describe('deploy/compose.host.yaml', () => {
  const text = readFileSync(join(ROOT, 'deploy', 'compose.host.yaml'), 'utf8')

  it('runs every service once, beside Postfix or in the other container', () => {
    const lists = [...text.matchAll(/^ +SVC_SERVICES: (.+)$/gm)].map(([, list = '']) =>
      list.split(','),
    )
    expect(lists).toHaveLength(2)
    expect(lists.flat().sort()).toEqual(daemons.map(({ name }) => name).sort())
    const edge = readFileSync(join(ROOT, 'deploy', 'Dockerfile.edge'), 'utf8')
    const [, beside = ''] = /"--services", "([^"]+)"/.exec(edge) ?? []
    expect(beside.split(',').sort()).toEqual(lists[1]?.sort())
  })

  it('sets only variables that src/config/ reads, and mounts only files that exist', () => {
    const set = [...text.matchAll(/^ +((?:SVC|DATABASE|REDIS|QUEUE|BACKUP)_\w+):/gm)].map(
      ([, name]) => name,
    )
    expect(set.length).toBeGreaterThan(5)
    expect(set.filter((name) => !known.has(name as string))).toEqual([])
    const mounted = [...text.matchAll(/- (\.\/[^:]+):/g)].map(([, path = '']) => path)
    expect(mounted.filter((path) => !existsSync(join(ROOT, 'deploy', path)))).toEqual([])
    expect(mounted).toContain('./prometheus/rules.yaml')
  })
})

it('the images, the manifests and the CHANGELOG have the version of package.json', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  for (const file of ['deploy/Dockerfile', 'deploy/Dockerfile.edge']) {
    expect([file, /^ARG VERSION=(.*)$/m.exec(read(file))?.[1]]).toEqual([file, version])
  }
  expect(read('deploy/kubernetes/statefulset.yaml')).toContain(`image: mailplane:${version}\n`)
  expect(read('deploy/helm/mailplane/Chart.yaml')).toContain(
    `\nversion: ${version}\nappVersion: ${version}\n`,
  )
  expect(read('CHANGELOG.md')).toContain(`\n## [${version}] - `)
})

it('Caddy publishes the paths of docs/reverse-proxy.md', () => {
  const pathsIn = (file: string) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^\t@\w+ path (.*)$/gm)]
      .flatMap(([, paths = '']) => paths.split(' '))
      .sort()
  expect(pathsIn('deploy/caddy/Caddyfile')).toEqual(pathsIn('docs/reverse-proxy.md'))
})
