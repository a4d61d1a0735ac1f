import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { USAGE } from '../src/cli/index.ts'
import { variables } from '../src/config/index.ts'
import { daemons } from '../src/daemons/index.ts'
import { erasers } from '../src/features/compliance/erasure/erasers.ts'
import {
  blocksOf,
  commandsOf,
  filesIn,
  type Page,
  pages,
  proseOf,
  ROOT,
  sectionOf,
} from './support/documentation.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
const routes = read('openapi/routes.txt').trim().split('\n').map(routeOf)
const errorCodes = new Set(
  filesIn('src', '.ts').flatMap((path) =>
    [...read(path).matchAll(/\bcode: '([A-Z_]+)'/g)].map(([, code]) => code),
  ),
)
const written = pages.filter(({ path }) => !path.startsWith('docs/generated/'))

/** The problems of all pages, each with the path of its page. */
const problemsIn = (all: readonly Page[], problemsOf: (page: Page) => string[]): string[] =>
  all.flatMap((page) => problemsOf(page).map((problem) => `${page.path}: ${problem}`))

describe('the documentation', () => {
  it('has only relative links that resolve', () => {
    const broken = (page: Page) => linksOf(page).filter((link) => !resolves(page, link))
    expect(problemsIn(pages, broken)).toEqual([])
  })

  it('names only files that exist', () => {
    const missing = ({ text }: Page) =>
      [...proseOf(text).matchAll(/`((?:src|test|scripts|bench|migrations)\/[\w./-]+)`/g)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(join(ROOT, path)))
    expect(problemsIn(written, missing)).toEqual([])
  })

  it('names only npm scripts of package.json', () => {
    const unknown = ({ text }: Page) =>
      [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !(name in scripts))
    expect(problemsIn(written, unknown)).toEqual([])
  })

  it('calls only routes of openapi/routes.txt', () => {
    const unknown = ({ text }: Page) =>
      callsOf(text)
        .filter((call) => !isRoute(call))
        .map(({ method, path }) => `${method} ${path}`)
    expect(problemsIn(written, unknown)).toEqual([])
  })

  it('names only variables that src/config/ reads', () => {
    const unknown = ({ text }: Page) => variablesOf(text).filter((name) => !isKnownName(name))
    expect(problemsIn(written, unknown)).toEqual([])
  })

  it('names the services that have the same port (N11)', () => {
    const shared = Map.groupBy(daemons, ({ port }) => port)
    const lines = read('docs/operations.md').split('\n')
    const missing = [...shared].filter(([port, services]) => {
      const names = services.map(({ name }) => `\`${name}\``).join(' and ')
      const isNamed = lines.some((line) => line.includes(names) && line.includes(String(port)))
      return services.length > 1 && !isNamed
    })
    expect(missing).toEqual([])
  })
})

it('docs/growing.md divides every service over the machines, each once', () => {
  const page = pages.find(({ path }) => path === 'docs/growing.md') as Page
  const commands = blocksOf(sectionOf(page, 'Several machines')).flatMap(commandsOf)
  const listed = commands.flatMap((line) => /--services (\S+)/.exec(line)?.[1]?.split(',') ?? [])
  expect(listed.sort()).toEqual(daemons.map(({ name }) => name).sort())
})

it('docs/operations.md has the usage of the command line', () => {
  const blocks = blocksOf(read('docs/operations.md')).map(({ text }) => text)
  expect(blocks.filter((text) => text.startsWith('usage:'))).toEqual([USAGE])
})

it('docs/compliance.md lists every eraser', () => {
  const page = pages.find(({ path }) => path === 'docs/compliance.md') as Page
  const listed = [...sectionOf(page, 'Erasure').matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name)
  expect(listed.sort()).toEqual([...new Set(erasers.map(({ name }) => name))].sort())
})

describe('README.md', () => {
  it('links every page of docs/ and deploy/ exactly once, and docs/adr/ as a folder', () => {
    const readme = pages.find(({ path }) => path === 'README.md') as Page
    const links = linksOf(readme).filter((link) => /^(docs|deploy)\/(?!pictures\/)/.test(link))
    const others = pages.map(({ path }) => path).filter((path) => /^(docs|deploy)\//.test(path))
    const expected = others.filter((path) => !path.startsWith('docs/adr/'))
    expect(links.sort()).toEqual([...expected, 'docs/adr/'].sort())
  })
})

describe('docs/adr/', () => {
  it('numbers the decisions from 1 without a gap, in file name and title', () => {
    const decisions = pages.filter(({ path }) => path.startsWith('docs/adr/'))
    const numbers = decisions.map(({ path, text }) => [
      Number(/\/(\d{4})-/.exec(path)?.[1]),
      Number(/^# (\d+)\. /.exec(text)?.[1]),
    ])
    expect(numbers).toEqual(decisions.map((_, index) => [index + 1, index + 1]))
  })
})

const linksOf = ({ text }: Page): string[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))

function resolves(page: Page, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const path = file === '' ? page.path : normalize(join(dirname(page.path), file))
  if (!existsSync(join(ROOT, path))) return false
  return anchor === undefined || anchorsIn(path).has(anchor)
}

const anchors = new Map<string, Set<string>>()

function anchorsIn(path: string): Set<string> {
  const ofPage = anchors.get(path) ?? anchorsOf(read(path))
  anchors.set(path, ofPage)
  return ofPage
}

/** As GitHub derives them from headings. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )

interface Route {
  method: string
  path: RegExp
}

function routeOf(line: string): Route {
  const [method = '', template = ''] = line.split(/\s+/)
  const source = template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')
  return { method, path: new RegExp(`^${source}$`) }
}

/** Calls in curl commands, and in prose as `METHOD /api/v1/…`. */
function callsOf(text: string): { method: string; path: string }[] {
  const inProse = [
    ...proseOf(text).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/v1\/[^\s`?]*)/g),
  ].map(([, method = '', path = '']) => ({ method, path }))
  const commands = blocksOf(text)
    .flatMap(commandsOf)
    // Routes of the delivery optimizer and the profiles of autoconfig are not part of the description.
    .filter((line) => /\bcurl /.test(line) && !/:8088\/|\/apple\//.test(line))
  const inCommands = commands.map((line) => ({
    method: /-X (\w+)/.exec(line)?.[1] ?? (/ (-d|--data\S*) /.test(line) ? 'POST' : 'GET'),
    path: /(?:https?:\/\/[^/\s]+|\$URL|…)(\/[^\s"'?]*)/.exec(line)?.[1] ?? line,
  }))
  return [...inProse, ...inCommands]
}

const isRoute = ({ method, path }: { method: string; path: string }): boolean =>
  path.includes('…') || routes.some((route) => route.method === method && route.path.test(path))

/** Names in code spans, and assignments in shell blocks. */
function variablesOf(text: string): string[] {
  const inProse = [...proseOf(text).matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]
  const shell = blocksOf(text).filter(({ language }) => ['sh', 'ini'].includes(language))
  const assigned = shell.flatMap(({ text: block }) => [
    ...block.matchAll(/(?:^|export |Environment=| )([A-Z]+_[A-Z_]+)=/gm),
  ])
  return [...inProse, ...assigned].map(([, name = '']) => name)
}

/** A variable or an error code. */
const isKnownName = (name: string): boolean => name in variables || errorCodes.has(name)
