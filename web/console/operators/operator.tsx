import type { OperatorSession } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Details } from '../../ui/details.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { OperatorActions } from './operator-actions.tsx'
import { Status } from './operators.tsx'
import { t } from './words.ts'

export function OneOperator() {
  const { operator_id = '' } = useParams()
  const { data, error, again } = useQuery(`operator ${operator_id}`, () =>
    api.get('/platform/operators/{operator_id}', { params: { operator_id } }),
  )
  return (
    <>
      <Heading
        title={data?.full_name ?? t.one}
        parent={{ title: t.title, to: '/console/operators' }}
        badge={data && <Status {...data} />}
      >
        {data && <OperatorActions operator={data} />}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <Card>
          <Details
            rows={[
              [t.email, <Text key="email">{data.email}</Text>],
              [t.role, t.roleHints[data.role]],
              [t.mfa, data.mfa_enrolled ? t.enrolled : t.notEnrolled],
              [t.lastLogin, <Time key="login" iso={data.last_login_at} />],
              [t.sessions, number(data.active_session_count)],
              [t.created, <Time key="created" iso={data.created_at} form="date" />],
              [t.createdBy, data.created_by_email && <Text>{data.created_by_email}</Text>],
            ]}
          />
          <p class="links">
            <a href={`/console/audit?operator_id=${operator_id}`}>{t.activity}</a>
          </p>
        </Card>
      )}
      {data && <SessionsOf operatorId={operator_id} />}
    </>
  )
}

const columns: Column<OperatorSession>[] = [
  { title: t.started, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.address, cell: ({ ip_address }) => <code>{ip_address}</code> },
  { title: t.browser, minor: true, cell: ({ user_agent }) => <Text>{user_agent}</Text> },
  {
    title: t.status,
    cell: ({ is_active, mfa_satisfied }) =>
      is_active ? (
        <Badge tone={mfa_satisfied ? 'good' : 'warn'}>{mfa_satisfied ? t.active : t.partial}</Badge>
      ) : (
        <Badge>{t.ended}</Badge>
      ),
  },
  {
    title: t.ends,
    minor: true,
    cell: ({ revoked_at, expires_at }) => <Time iso={revoked_at ?? expires_at} />,
  },
]

function SessionsOf({ operatorId }: { operatorId: string }) {
  const { data, error, again } = useQuery(`operator ${operatorId} sessions`, () =>
    api.get('/platform/operators/{operator_id}/sessions', { params: { operator_id: operatorId } }),
  )
  return (
    <Card title={t.sessions} flush>
      <Failed error={error} again={again} />
      <Table
        caption={t.sessions}
        columns={columns}
        rows={data?.items}
        rowKey={({ id }) => id}
        expected={2}
        empty={<Empty title={t.noSessions}>{t.noSessionsHint}</Empty>}
      />
    </Card>
  )
}
