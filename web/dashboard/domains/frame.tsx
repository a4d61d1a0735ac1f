import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { DomainDetail } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { go, useParams } from '../../lib/router.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Heading } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { DnsState } from './domains.tsx'
import { t } from './words.ts'

/** Heading and tabs of the screens of one domain. */
export function Frame({
  part,
  children,
}: {
  /** The name of the screen; the first one has none. */
  part?: string
  children(domain: DomainDetail): ComponentChildren
}) {
  const { domain_id = '' } = useParams()
  const may = useMay()
  const [deleting, setDeleting] = useState(false)
  const { data, error, again } = useQuery(`domain ${domain_id}`, () =>
    api.get('/domains/{domain_id}', { params: { domain_id } }),
  )
  const name = data?.domain_unicode ?? t.one
  const base = `/app/domains/${encodeURIComponent(domain_id)}`
  return (
    <>
      <Heading
        title={part ? t.partOf(name, part) : name}
        parent={{ title: t.title, to: '/app/domains' }}
        badge={data && <DnsState domain={data} />}
      >
        {data && may<'DELETE /domains/{domain_id}'>('write') && (
          <Menu name={common.actionsFor(data.domain_unicode)}>
            <MenuItem danger onClick={() => setDeleting(true)}>
              {t.remove}
            </MenuItem>
          </Menu>
        )}
      </Heading>
      <Tabs
        label={t.one}
        tabs={[
          [base, t.overview],
          [`${base}/limits`, t.limits],
          ...(may<'PUT /domains/{domain_id}'>('write')
            ? [[`${base}/settings`, t.settings] as const]
            : []),
        ]}
      />
      <Failed error={error} again={again} />
      {data && (
        <>
          {children(data)}
          <ConfirmByName
            title={t.removeTitle(data.domain)}
            open={deleting}
            onClose={() => setDeleting(false)}
            submit={t.remove}
            name={data.domain}
            onConfirm={async (idempotencyKey) => {
              await api.delete('/domains/{domain_id}', { params: { domain_id }, idempotencyKey })
              forget('domains')
              toast(t.removed(data.domain))
              go('/app/domains')
            }}
          >
            <p>{t.removeHint}</p>
          </ConfirmByName>
        </>
      )}
    </>
  )
}
