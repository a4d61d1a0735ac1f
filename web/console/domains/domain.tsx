import { useState } from 'preact/hooks'
import type { DomainDetail } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { go, useParams } from '../../lib/router.tsx'
import { Confirm, ConfirmByName, ConfirmWithReason } from '../../ui/confirm.tsx'
import { DnsRecords } from '../../ui/dns-records.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Card, Facts, Heading, Text, Time, Usage } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { DkimKeys } from './dkim.tsx'
import { DomainState } from './domains.tsx'
import { t } from './words.ts'

export function Domain() {
  const { domain_id = '' } = useParams()
  const { data, error, again } = useQuery(`domain ${domain_id}`, () =>
    api.get('/domains/{domain_id}', { params: { domain_id } }),
  )
  return (
    <>
      <Heading
        title={data?.domain_unicode ?? t.one}
        parent={{ title: t.title, to: '/console/domains' }}
        badge={data && <DomainState domain={data} />}
      >
        {data && <Actions domain={data} />}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Card>
            <Facts
              facts={[
                {
                  name: t.organization,
                  value: <Text>{data.organization?.name ?? data.organization_id}</Text>,
                  to: `/console/organizations/${encodeURIComponent(data.organization_id)}`,
                },
                { name: t.mailboxes, value: number(data.email_account_count) },
                {
                  name: t.storage,
                  value: (
                    <Usage
                      used={data.total_storage_used}
                      limit={data.max_quota}
                      label={t.storageOf(data.domain)}
                    />
                  ),
                },
                { name: t.added, value: <Time iso={data.created_at} form="date" /> },
              ]}
            />
          </Card>
          {!data.ownership_verified_at && <Claim domain={data} />}
          <DnsRecords api={api} domain={data} />
          <DkimKeys domain={data} />
        </>
      )}
    </>
  )
}

interface Props {
  domain: DomainDetail
}

/** A claim that the record has not proven yet. */
function Claim({ domain }: Props) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const name = domain.domain_unicode
  return (
    <Card title={t.claim}>
      <div class="stack">
        <p class="prose">{t.claimHint}</p>
        {may<'POST /domains/{domain_id}/verify-ownership'>('operator') && (
          <p>
            <button type="button" onClick={() => setOpen(true)}>
              {t.prove}
            </button>
          </p>
        )}
      </div>
      <ConfirmWithReason
        kind="ownership"
        open={open}
        onClose={() => setOpen(false)}
        title={t.proveTitle(name)}
        submit={t.prove}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/domains/{domain_id}/verify-ownership', {
            params: { domain_id: domain.id },
            body: { reason },
            idempotencyKey,
          })
          forget('domain')
          toast(t.proved(name))
        }}
      >
        <p>{t.proveHint}</p>
      </ConfirmWithReason>
    </Card>
  )
}

function Actions({ domain }: Props) {
  const may = useMay()
  const [open, setOpen] = useState<'active' | 'delete'>()
  const dialog = (name: 'active' | 'delete') => ({
    open: open === name,
    onClose: () => setOpen(undefined),
  })
  const params = { domain_id: domain.id }
  const name = domain.domain_unicode
  const setActive = async (active: boolean, idempotencyKey?: string) => {
    await api.put('/domains/{domain_id}', {
      params,
      body: { active },
      ...(idempotencyKey && { idempotencyKey }),
    })
    forget('domain')
    toast(t.changed(name), () => setActive(!active))
  }
  if (!may<'PUT /domains/{domain_id}'>('write')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen('active')}>
          {domain.active ? t.suspend : t.activateDomain}
        </MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <Confirm
        {...dialog('active')}
        title={t.activeTitle(name, !domain.active)}
        submit={domain.active ? t.suspend : t.activateDomain}
        danger={domain.active}
        onConfirm={(idempotencyKey) => setActive(!domain.active, idempotencyKey)}
      >
        <p>{t.activeHint}</p>
      </Confirm>
      <ConfirmByName
        {...dialog('delete')}
        title={t.removeTitle(name)}
        submit={t.remove}
        name={domain.domain}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/domains/{domain_id}', { params, idempotencyKey })
          forget('domains')
          toast(t.removed(name))
          go('/console/domains')
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}
