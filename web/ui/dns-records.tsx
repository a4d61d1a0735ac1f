import { useEffect, useState } from 'preact/hooks'
import type { Client } from '../api/client.ts'
import type { ComparedDnsRecord, DnsCheck, DnsRecord } from '../api/schema.ts'
import { useAction } from '../lib/query.ts'
import { zoneFile } from '../lib/zone-file.ts'
import { Copy, Download } from './copy.tsx'
import { t } from './dns-records.words.ts'
import { Failed } from './failed.tsx'
import { Badge, Card, Time } from './page.tsx'
import { Scroll } from './scroll.tsx'

interface Props {
  api: Client
  domain: {
    id: string
    domain: string
    verified_at: string | null
    dns_records: readonly DnsRecord[]
  }
  /** Checks as soon as it is shown. */
  checkFirst?: boolean
  onChecked?: () => void
}

interface Checked {
  checks: DnsCheck[]
  records: readonly ComparedDnsRecord[]
  at: string
}

const AGAIN_MS = 30_000
const MAX_CHECKS = 20

/** The records to publish, those published now, and copies in the two forms of DNS hosts. */
export function DnsRecords({ api, domain, checkFirst = false, onChecked }: Props) {
  const { checked, run, busy, error } = useChecks(api, domain.id, checkFirst, onChecked)
  const records = domain.dns_records
  const zone = zoneFile(domain.domain, records)
  const checks = checked?.checks ?? []
  // A check without a record, e.g. of a DKIM key that does not exist yet, has a row of its own.
  const others = checks.filter((check) => !records.some((record) => isAbout(check, record)))
  return (
    <Card
      title={t.title}
      flush
      actions={
        <>
          <Copy text={zone} label={t.allRecords}>
            {t.copyZone}
          </Copy>
          <Download name={`${domain.domain}.zone.txt`} text={zone} />
          <button type="button" class="small primary" disabled={busy} onClick={() => void run()}>
            {busy ? t.checking : t.checkNow}
          </button>
        </>
      }
    >
      <div class="pad prose">
        <Failed error={error} />
        <p role="status">{checked ? summary(checks) : t.publish}</p>
        <p class="hint">
          {checked && (
            <>
              {t.looked} <Time iso={checked.at} />. {isFailing(checks) && t.again}{' '}
            </>
          )}
          {domain.verified_at && (
            <>
              {t.verifiedOn} <Time iso={domain.verified_at} form="date" />.
            </>
          )}
        </p>
      </div>
      <Scroll label={t.records}>
        <table class="records">
          <caption class="hidden">{t.records}</caption>
          <thead>
            <tr>
              <th scope="col">{t.type}</th>
              <th scope="col">{t.name}</th>
              <th scope="col">{t.value}</th>
              <th scope="col">{t.now}</th>
            </tr>
          </thead>
          <tbody>
            {records.map((record) => (
              <RecordRow
                key={record.type + record.name + record.value}
                record={record}
                check={checks.find((check) => isAbout(check, record))}
                found={checked?.records.find((one) => isAbout(one, record))}
              />
            ))}
            {others.map((check) => (
              <CheckRow key={check.type + check.name} check={check} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  )
}

/** Checks on demand, and by itself while something fails and the tab is visible. */
function useChecks(
  api: Client,
  domainId: string,
  checkFirst: boolean,
  onChecked: (() => void) | undefined,
) {
  const [checked, setChecked] = useState<Checked>()
  const [count, setCount] = useState(0)
  const { run, busy, error } = useAction(async () => {
    const { verification, records } = await api.get('/domains/{domain_id}/verify-dns', {
      params: { domain_id: domainId },
    })
    setChecked({ checks: Object.values(verification), records, at: new Date().toISOString() })
    setCount((before) => before + 1)
    onChecked?.()
  })
  useEffect(() => {
    if (checkFirst) void run()
  }, [])
  const goesOn = checked !== undefined && isFailing(checked.checks) && count < MAX_CHECKS
  useEffect(() => {
    if (!goesOn) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void run()
    }, AGAIN_MS)
    return () => clearInterval(timer)
  }, [goesOn])
  return { checked, run, busy, error }
}

const isFailing = (checks: readonly DnsCheck[]) => checks.some(({ status }) => status === 'fail')

const isAbout = (check: Pick<DnsRecord, 'type' | 'name'>, record: DnsRecord) =>
  check.type === record.type && check.name === record.name

function summary(checks: readonly DnsCheck[]): string {
  const failing = checks.filter(({ status }) => status === 'fail').length
  return failing === 0 ? t.allPass : t.failing(failing, checks.length)
}

interface RowProps {
  record: DnsRecord
  check: DnsCheck | undefined
  found: ComparedDnsRecord | undefined
}

function RecordRow({ record, check, found }: RowProps) {
  const what = t.recordOf(record.type, record.name)
  const isWrong = check?.status === 'fail'
  return (
    <tr>
      <td>
        <span class="mono">{record.type}</span>
        {record.priority !== null && <div class="hint">{t.priority(record.priority)}</div>}
      </td>
      <td>
        <Value text={record.name} label={t.nameOf(what)} />
      </td>
      <td>
        <Value text={record.value} label={t.valueOf(what)} />
        <div class="hint" lang="en">
          {(isWrong && check.message) || record.description}
        </div>
        {isWrong && check.actual && (
          <div class="wrong">
            {t.foundInstead} <code>{check.actual}</code>
          </div>
        )}
      </td>
      <td>
        {check || !found?.status ? (
          <State check={check} />
        ) : (
          <Badge tone={found.status === 'pass' ? 'good' : ''}>
            {t.states[found.status === 'missing' ? 'absent' : found.status]}
          </Badge>
        )}
      </td>
    </tr>
  )
}

const CheckRow = ({ check }: { check: DnsCheck }) => (
  <tr>
    <td>
      <span class="mono">{check.type}</span>
    </td>
    <td>
      <code>{check.name}</code>
    </td>
    <td>
      {check.expected && (
        <Value text={check.expected} label={t.valueOf(t.recordOf(check.type, check.name))} />
      )}
      <div class="hint" lang="en">
        {check.message}
      </div>
    </td>
    <td>
      <State check={check} />
    </td>
  </tr>
)

/** The plain value, never split into pieces. */
export const Value = ({ text, label }: { text: string; label: string }) => (
  <div class="copyable">
    <code>{text}</code>
    <Copy text={text} label={label} />
  </div>
)

function State({ check }: { check: DnsCheck | undefined }) {
  if (!check) return <span class="muted">{t.states.unknown}</span>
  if (check.status === 'pass') return <Badge tone="good">{t.states.pass}</Badge>
  return <Badge tone="bad">{t.states[check.actual ? 'different' : 'missing']}</Badge>
}
