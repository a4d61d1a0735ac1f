import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { copyOf, type Instruction, instructions, isInContext } from '../support/container.ts'
import { ROOT } from '../support/documentation.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'

afterAll(cleanUp)

const MODULES = join(ROOT, 'node_modules')

/** Follows deploy/Dockerfile without Docker. The packages are those of this checkout. */
function buildImage(): string {
  const top = temporaryFolder()
  const folders = ['build', 'image'].map((name) => join(top, name))
  for (const folder of folders) {
    mkdirSync(folder)
    symlinkSync(MODULES, join(folder, 'node_modules'))
  }
  for (const instruction of instructions()) {
    const folder = folders[instruction.stage] as string
    if (instruction.name === 'COPY') copy(instruction, folder, folders[0] as string)
    if (instruction.name === 'RUN') runNode(instruction, folder)
  }
  return folders[1] as string
}

function copy(instruction: Instruction, folder: string, build: string): void {
  const { isFromBuild, sources, target } = copyOf(instruction)
  for (const source of sources.map((path) => path.replace('/app/', ''))) {
    if (source === 'node_modules') continue
    const from = join(isFromBuild ? build : ROOT, source)
    const isThere = existsSync(from) && (isFromBuild || isInContext(source))
    if (!isThere) throw new Error(`COPY: ${source} is not in the build context`)
    const to = target.endsWith('/')
      ? join(folder, target, source.replace(/.*\//, ''))
      : join(folder, target)
    mkdirSync(dirname(to), { recursive: true })
    const filter = (path: string) => isFromBuild || isInContext(relative(ROOT, path))
    cpSync(from, to, { recursive: true, filter })
  }
}

/** Runs the commands of Node; npm and the commands of the system need the image. */
function runNode({ text }: Instruction, folder: string): void {
  for (const command of text.split(' && ').filter((one) => one.startsWith('node '))) {
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
    const { status, stderr } = spawnSync('/bin/sh', ['-c', command], {
      cwd: folder,
      env: { PATH },
      encoding: 'utf8',
    })
    expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' })
  }
}

it('the files of the container image are enough to build, start and show the pages', async () => {
  const main = join(buildImage(), 'dist', 'main.js')
  const server = await startServer({ dataDir: join(temporaryFolder(), 'data'), main })
  await until(async () => (await server.health()).status === 200)
  expect((await server.send('GET', '/app')).status).toBe(200)
  expect((await server.send('GET', '/api/v1/capabilities/')).status).toBe(200)
  expect((await server.stop()).code).toBe(0)
})
