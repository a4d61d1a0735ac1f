import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/documentation.ts'
import { missingProgram, runProgram, skipped } from '../support/programs.ts'

const missing = missingProgram('kubectl')

// biome-ignore lint/suspicious/noExplicitAny: a manifest of any kind
type Manifest = any

/** The objects of the base, as JSON. The dry run asks no cluster. */
const rendered = (): Manifest[] => {
  const manifests = runProgram('kubectl', ['kustomize', join(ROOT, 'deploy', 'kubernetes')])
  return manifests.split(/^---\n/m).map((input) => JSON.parse(local(['annotate', 'a=b'], input)))
}

const local = ([verb = '', ...args]: string[], input: string): string => {
  const options = ['--local', '--filename=-', '--output=json', '--kubeconfig=/dev/null']
  return runProgram('kubectl', [...verb.split(' '), ...options, ...args], { input })
}

/** The paths of all values of an object. */
const pathsOf = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, `${path}/${key}`))
    : [path]

describe.skipIf(missing)(`the Kustomize base${skipped(missing)}`, () => {
  it('renders the server, its service and its network policy', () => {
    const kinds = rendered().map(({ kind }) => kind)
    expect(kinds.sort()).toEqual(['ConfigMap', 'NetworkPolicy', 'Service', 'StatefulSet'])
  })

  // kubectl reads the object into the types of Kubernetes, which drops every field that they lack.
  it.each([
    ['StatefulSet', ['set env', 'A=b']],
    ['Service', ['set selector', 'app.kubernetes.io/component=server']],
  ])('%s has only fields that Kubernetes knows', (kind, command) => {
    const manifest = rendered().find((one) => one.kind === kind)
    const known = new Set(pathsOf(JSON.parse(local(command, JSON.stringify(manifest)))))
    expect(
      pathsOf(manifest).filter((path) => !known.has(path) && !/\/labels\//.test(path)),
    ).toEqual([])
  })

  it('runs without root, capabilities and a writable root folder', () => {
    const { spec } = rendered().find(({ kind }) => kind === 'StatefulSet').spec.template
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      fsGroup: 1000,
    })
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })
})
