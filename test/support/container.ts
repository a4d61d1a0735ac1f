import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { ROOT } from './documentation.ts'

const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8')

export interface Instruction {
  /** 0 for the stage that builds, 1 for the image. */
  stage: number
  name: string
  text: string
}

/** The instructions of deploy/Dockerfile, each on one line. */
export function instructions(): Instruction[] {
  const lines = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean)
  let stage = -1
  return lines.map((line) => {
    const [, name = '', text = ''] = /^(\w+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') stage++
    return { stage, name, text }
  })
}

/** The sources and the target of a COPY instruction, and whether it copies from the first stage. */
export function copyOf({ text }: Instruction) {
  const paths = text.split(' ')
  const isFromBuild = paths[0] === '--from=build'
  if (isFromBuild) paths.shift()
  const target = paths.pop() as string
  return { isFromBuild, sources: paths, target }
}

const patterns = read('Dockerfile.dockerignore').split('\n').filter(Boolean)

/** The last pattern that matches a path or a folder above it decides. */
export function isInContext(path: string): boolean {
  const names = path.split('/')
  const above = names.map((_, depth) => names.slice(0, depth + 1).join('/'))
  const last = patterns.findLast((pattern) =>
    above.some((folder) => matchesGlob(folder, pattern.replace(/^!/, ''))),
  )
  return last === undefined || last.startsWith('!')
}

/** The first value of a key in deploy/compose.yaml. */
export function composeValue(key: string): string {
  const found = new RegExp(`^ *${key}:\\s*(?:#.*\\n\\s*)*(?:- )?"?([^"\\n]+)"?$`, 'm').exec(
    read('compose.yaml'),
  )
  if (!found) throw new Error(`compose.yaml has no ${key}`)
  return found[1] as string
}
