import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { variables } from '../../src/config/index.ts'
import { ROOT } from '../support/documentation.ts'
import {
  helmProgram,
  type KubernetesObject,
  kubectlLocal,
  objectsOf,
  problemsOf,
} from '../support/kubernetes.ts'
import { cleanUp } from '../support/process.ts'
import { missingProgram, runProgram, skipped } from '../support/programs.ts'

afterAll(cleanUp)

const noKubectl = missingProgram('kubectl')
const noHelm =
  noKubectl ??
  (process.arch === 'x64' ? undefined : 'npm has Helm for x64 only') ??
  (process.env.MAILPLANE_LANES?.includes('cluster') ? undefined : 'npm run test:cluster runs it')

const CHART = join(ROOT, 'deploy', 'helm', 'mailplane')

const kustomized = () =>
  objectsOf(runProgram('kubectl', ['kustomize', join(ROOT, 'deploy', 'kubernetes')]))

/** The chart as Helm renders it; a value is NAME=VALUE. */
const helm = (verb: string[], ...values: string[]): string =>
  runProgram(helmProgram(), [...verb, CHART, ...values.map((value) => `--set=${value}`)])
const charted = (...values: string[]) => objectsOf(helm(['template', 'mailplane'], ...values))

const everything = () =>
  charted(
    'backup.enabled=true',
    'settings.BACKUP_S3_BUCKET=backups',
    'monitoring.serviceMonitor=true',
    'monitoring.rules=true',
    'networkPolicy.ingressNamespace=ingress-nginx',
    'volume.storageClass=fast',
    'imagePullSecrets[0].name=registry',
    'nodeSelector.disk=ssd',
    'tolerations[0].operator=Exists',
  )
const ofKind = (objects: KubernetesObject[], kind: string): KubernetesObject =>
  objects.find((one) => one.kind === kind)
const isOfOperator = ({ apiVersion }: KubernetesObject) => /monitoring\.coreos/.test(apiVersion)

/** The paths of all values of an object. */
const pathsOf = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, `${path}/${key}`))
    : [path]

describe.skipIf(noKubectl)(`the Kustomize base${skipped(noKubectl)}`, () => {
  it('renders the server, its settings, its service and its network policy', () => {
    const kinds = kustomized().map(({ kind }) => kind)
    expect(kinds).toEqual(['ConfigMap', 'NetworkPolicy', 'Service', 'StatefulSet'])
  })

  it('has only fields that the API of Kubernetes knows', () => {
    expect(problemsOf(kustomized())).toEqual([])
  })

  it('is compared with a type that refuses unknown fields', () => {
    const set = ofKind(kustomized(), 'StatefulSet')
    set.spec.template.spec.containers[0].securityContext.readOnlyRoot = true
    expect(problemsOf([set]).join()).toContain(`'"readOnlyRoot"' does not exist in type`)
  })

  // kubectl reads the object into the types of Kubernetes, which drops every field that they lack.
  it.each([
    ['StatefulSet', ['set env', 'A=b']],
    ['Service', ['set selector', 'app.kubernetes.io/component=server']],
  ])('%s loses no field in kubectl', (kind, command) => {
    const object = ofKind(kustomized(), kind)
    const known = new Set(pathsOf(JSON.parse(kubectlLocal(command, JSON.stringify(object)))))
    const isAboutLabels = /\/(labels|selector)\//
    expect(pathsOf(object).filter((path) => !known.has(path) && !isAboutLabels.test(path))).toEqual(
      [],
    )
  })

  it('runs without root, capabilities and a writable root folder', () => {
    const { spec } = ofKind(kustomized(), 'StatefulSet').spec.template
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

describe.skipIf(noHelm)(`the Helm chart${skipped(noHelm)}`, () => {
  it.each([
    ['an unknown value', 'replica=2', `additional properties 'replica' not allowed`],
    ['a wrong type', 'replicas=two', 'got string, want integer'],
    // Helm reads a large number from a file as 1e+07.
    ['a setting that is no text', 'settings.PORT=8080', 'got number, want string'],
    ['backups without a bucket', 'backup.enabled=true', `missing property 'BACKUP_S3_BUCKET'`],
  ])('refuses %s', (_, value, message) => {
    expect(() => charted(value)).toThrow(message)
  })

  it('passes the strict checks of Helm', () => {
    expect(helm(['lint', '--strict'])).toContain('0 chart(s) failed')
  })

  it('renders what the Kustomize base renders', () => {
    expect(comparable(charted())).toEqual(comparable(kustomized()))
  })

  it('has only fields that the API of Kubernetes knows, with every option on', () => {
    const objects = everything()
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'CronJob',
      'NetworkPolicy',
      'PrometheusRule',
      'Service',
      'ServiceMonitor',
      'StatefulSet',
    ])
    expect(problemsOf(objects.filter((one) => !isOfOperator(one)))).toEqual([])
  })

  it('gives Prometheus the job name of the rules, and the rules themselves', () => {
    const objects = everything()
    const selector = {
      'app.kubernetes.io/name': 'mailplane',
      'app.kubernetes.io/instance': 'mailplane',
    }
    expect(ofKind(objects, 'ServiceMonitor').spec).toEqual({
      jobLabel: 'app.kubernetes.io/name',
      selector: { matchLabels: selector },
      endpoints: [{ port: 'http', path: '/metrics/prometheus', interval: '30s' }],
    })
    expect(ofKind(objects, 'Service').metadata.labels).toMatchObject(selector)
    const rules = readFileSync(join(ROOT, 'deploy', 'prometheus', 'rules.yaml'), 'utf8')
    const alerts = ofKind(objects, 'PrometheusRule').spec.groups.flatMap(
      ({ rules: ofGroup }: KubernetesObject) => ofGroup,
    )
    expect(alerts).toHaveLength(rules.match(/^ {6}- (alert|record):/gm)?.length ?? 0)
    expect(JSON.stringify(alerts)).toContain('up{job=\\"mailplane\\"} == 0')
  })

  it('keeps two releases of a namespace apart', () => {
    const [first, second] = ['one', 'two'].map((name) => objectsOf(helm(['template', name])))
    for (const object of first ?? []) {
      const other = ofKind(second ?? [], object.kind)
      expect(other.metadata.name).not.toBe(object.metadata.name)
    }
    const selectorOf = (objects: KubernetesObject[] = []) =>
      ofKind(objects, 'Service').spec.selector
    const labels = ofKind(second ?? [], 'StatefulSet').spec.template.metadata.labels
    expect(labels).toMatchObject(selectorOf(second))
    expect(labels).not.toMatchObject(selectorOf(first))
  })

  it('starts the pod anew when a setting changes', () => {
    const annotations = (...values: string[]) =>
      ofKind(charted(...values), 'StatefulSet').spec.template.metadata.annotations
    expect(annotations('settings.SVC_MAIL_HOSTNAME=other.example')).not.toEqual(annotations())
  })

  it('sets only variables that src/config/ reads', () => {
    const { data } = ofKind(charted(), 'ConfigMap')
    expect(Object.keys(data).filter((name) => !(name in variables))).toEqual([])
  })
})

const OF_HELM = ['app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', 'helm.sh/chart']

/** Objects without what one of the two tools adds: labels, and hashes of the settings. */
const comparable = (objects: KubernetesObject[]): KubernetesObject[] =>
  JSON.parse(
    JSON.stringify(objects, (key, value) => {
      if (OF_HELM.includes(key) || key === 'annotations') return undefined
      return key === 'name' ? value.replace(/^(mailplane)-[a-z0-9]{10}$/, '$1') : value
    }),
  )
