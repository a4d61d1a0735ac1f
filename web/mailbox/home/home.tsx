import type { MailboxProfile, MailServer } from '../../api/schema.ts'
import { useCapability } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { Copy } from '../../ui/copy.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Facts, Heading, Text, Time, Usage } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export function Home() {
  const profile = useQuery('profile', () => api.get('/mailbox/profile'))
  const { data } = profile
  return (
    <>
      <Heading title={t.title} />
      <Failed error={profile.error} again={profile.again} />
      <Card title={t.address}>
        <div class="stack">
          <p class="large">
            <Text>{data?.email_address}</Text>
          </p>
          <Facts
            facts={[
              {
                name: t.storage,
                value: data ? (
                  <Usage
                    used={data.storage_used}
                    limit={data.storage_quota}
                    label={t.storageLabel}
                  />
                ) : (
                  '–'
                ),
              },
              { name: t.lastLogin, value: data ? <Time iso={data.last_login} /> : '–' },
            ]}
          />
        </div>
      </Card>
      <WhatIsOn />
      {data && <Programs profile={data} />}
    </>
  )
}

function WhatIsOn() {
  const hasVacation = useCapability('vacation')
  const hasForwarding = useCapability('forwarding')
  const hasTwoFactor = useCapability('two_factor')
  const state = useQuery('home', async () => {
    const [vacation, forwarding, twoFactor] = await Promise.all([
      hasVacation ? api.get('/mailbox/vacation') : undefined,
      hasForwarding ? api.get('/mailbox/forwarding') : undefined,
      hasTwoFactor ? api.get('/mailbox/two-factor') : undefined,
    ])
    return { vacation, forwarding, twoFactor }
  })
  const { vacation, forwarding, twoFactor } = state.data ?? {}
  const fact = (name: string, on: boolean | undefined, to: string) => ({
    name,
    value: <OnOff on={on} />,
    to,
  })
  return (
    <>
      <Failed error={state.error} again={state.again} />
      <Card title={t.now}>
        <Facts
          facts={[
            ...(hasVacation ? [fact(t.vacation, vacation?.enabled, '/mailbox/vacation')] : []),
            ...(hasForwarding
              ? [fact(t.forwarding, forwarding?.enabled, '/mailbox/forwarding')]
              : []),
            ...(hasTwoFactor ? [fact(t.twoFactor, twoFactor?.enabled, '/mailbox/two-factor')] : []),
          ]}
        />
      </Card>
    </>
  )
}

const OnOff = ({ on }: { on: boolean | undefined }) =>
  on === undefined ? <>–</> : <Badge tone={on ? 'good' : ''}>{on ? t.on : t.off}</Badge>

const columns: Column<MailServer>[] = [
  { title: t.use, cell: ({ protocol }) => t.protocols[protocol] },
  {
    title: t.server,
    cell: ({ protocol, host }) => (
      <span class="copyable">
        <code>{host}</code>
        <Copy text={host} label={`${t.server}: ${t.protocols[protocol]}`} />
      </span>
    ),
  },
  { title: t.port, number: true, cell: ({ port }) => port },
  { title: t.encryption, cell: ({ encryption }) => t[encryption] },
]

const Programs = ({ profile }: { profile: MailboxProfile }) => (
  <Card title={t.programs} flush>
    <div class="pad stack">
      <p class="muted">{t.programsHint}</p>
      <p class="actions">
        {t.username}: <code>{profile.email_address}</code>
        <Copy text={profile.email_address} label={t.username} />
      </p>
      <p class="muted">{t.usernameHint}</p>
      <p>
        <a class="button small" href="/api/v1/mailbox/apple-profile" download>
          {t.profile}
        </a>
      </p>
      <p class="hint">{t.profileHint}</p>
    </div>
    <Table
      caption={t.programs}
      columns={columns}
      rows={profile.servers}
      rowKey={({ port }) => String(port)}
    />
  </Card>
)
