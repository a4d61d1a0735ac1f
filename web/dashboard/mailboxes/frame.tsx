import type { ComponentChildren } from 'preact'
import type { EmailAccountDetail } from '../../api/schema.ts'
import { useCapability } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Heading } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { api } from '../api.ts'
import { MailboxActions } from './actions.tsx'
import { Status } from './status.tsx'
import { t } from './words.ts'

/** Heading and tabs of the screens of one mailbox. */
export function Frame({
  part,
  children,
}: {
  /** The name of the screen; the overview has none. */
  part?: string
  children(account: EmailAccountDetail): ComponentChildren
}) {
  const { account_id = '' } = useParams()
  const { data, error, again } = useQuery(`mailbox ${account_id}`, () =>
    api.get('/mailboxes/email-accounts/{account_id}', { params: { account_id } }),
  )
  const base = `/app/mailboxes/${encodeURIComponent(account_id)}`
  const email = data?.email ?? t.one
  const hasFilters = useCapability('filters')
  const hasLimits = useCapability('rate_limits')
  return (
    <>
      <Heading
        title={part ? t.partOf(email, part) : email}
        parent={{ title: t.title, to: '/app/mailboxes' }}
        badge={data && <Status status={data.status} />}
      >
        {data && <MailboxActions account={data} />}
      </Heading>
      <Tabs
        label={t.one}
        tabs={[
          [base, t.overview],
          ...(hasFilters ? [[`${base}/filters`, t.filters] as const] : []),
          ...(hasLimits ? [[`${base}/limits`, t.limits] as const] : []),
        ]}
      />
      <Failed error={error} again={again} />
      {data && children(data)}
    </>
  )
}
