import { forget, useQuery } from '../../lib/query.ts'
import { OwnPassword } from '../../ui/account.tsx'
import { Card, Facts, Heading, Text } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { SecondFactor } from './second-factor.tsx'
import { OwnSessions } from './sessions.tsx'
import { t } from './words.ts'

export function Account() {
  const { data } = useQuery('me', () => api.get('/auth/me'))
  return (
    <>
      <Heading title={t.title} />
      <Card>
        <Facts
          facts={[
            { name: t.signedInAs, value: <Text>{data?.user?.email}</Text> },
            { name: t.role, value: t.roles[data?.user?.role ?? ''] ?? data?.user?.role },
          ]}
        />
      </Card>
      <OwnPassword
        email={data?.user?.email ?? ''}
        change={async (body, idempotencyKey) => {
          await api.post('/auth/password', { body, idempotencyKey })
          forget('sessions')
        }}
      />
      <SecondFactor />
      <OwnSessions />
    </>
  )
}
