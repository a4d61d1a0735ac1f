import type { ComponentChildren } from 'preact'
import type { OrganizationDetail } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Heading } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** Heading and tabs of the screens of one organization. */
export function Frame({
  part,
  actions,
  children,
}: {
  /** The name of the screen; the overview has none. */
  part?: string
  actions?: (organization: OrganizationDetail) => ComponentChildren
  children(organization: OrganizationDetail): ComponentChildren
}) {
  const { organization_id = '' } = useParams()
  const { data, error, again } = useQuery(`organization ${organization_id}`, () =>
    api.get('/organizations/{organization_id}', { params: { organization_id } }),
  )
  const name = data?.name ?? t.one
  const base = `/console/organizations/${encodeURIComponent(organization_id)}`
  return (
    <>
      <Heading
        title={part ? t.partOf(name, part) : name}
        parent={{ title: t.parent, to: '/console/organizations' }}
        badge={
          data && (
            <Badge tone={data.active ? 'good' : 'bad'}>
              {data.active ? t.active : t.suspended}
            </Badge>
          )
        }
      >
        {data && actions?.(data)}
      </Heading>
      <Tabs
        label={t.one}
        tabs={[
          [base, t.overview],
          [`${base}/domains`, t.domains],
          [`${base}/mailboxes`, t.mailboxes],
          [`${base}/users`, t.users],
          [`${base}/keys`, t.keys],
        ]}
      />
      <Failed error={error} again={again} />
      {data && children(data)}
    </>
  )
}
