import { useState } from 'preact/hooks'
import type { WhitelabelConfig } from '../../api/schema.ts'
import { forget, useAction, useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Heading, Text, Time } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { BrandForm, type Draft } from './brand-form.tsx'
import { Preview } from './preview.tsx'
import { HostState, useBrand } from './white-label.tsx'
import { t } from './words.ts'

export function Brand() {
  const { organization_id: id = '' } = useParams()
  const { data, error, again } = useBrand(id)
  const organization = useQuery(`organization name ${id}`, () =>
    api.get('/organizations/{organization_id}', { params: { organization_id: id } }),
  ).data
  const name = organization?.name ?? id
  const [removing, setRemoving] = useState(false)
  return (
    <>
      <Heading
        title={t.titleOf(name)}
        parent={{ title: titles.whiteLabel, to: '/console/white-label' }}
        badge={data?.whitelabel.custom_domain && <HostState {...data} />}
      >
        {data?.updated_at && (
          <button type="button" class="danger" onClick={() => setRemoving(true)}>
            {t.remove}
          </button>
        )}
      </Heading>
      <Failed error={error} again={again} />
      {data && <Editor key={data.updated_at ?? ''} config={data} />}
      <ConfirmByName
        name={name}
        open={removing}
        onClose={() => setRemoving(false)}
        title={t.removeTitle(name)}
        submit={t.remove}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/whitelabel/config/{org_id}', {
            params: { org_id: id },
            idempotencyKey,
          })
          forget('white-label')
          toast(t.removed)
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}

/** The form beside what it changes. Saving starts it again with what the server stored. */
function Editor({ config }: { config: WhitelabelConfig }) {
  const [draft, setDraft] = useState<Draft>(config.whitelabel)
  return (
    <div class="beside">
      <div>
        <BrandForm
          config={config}
          change={(field, value) => setDraft((known) => ({ ...known, [field]: value }))}
        />
        {config.whitelabel.custom_domain && <HostCheck config={config} />}
      </div>
      <Preview config={config} draft={draft} />
    </div>
  )
}

function HostCheck({ config }: { config: WhitelabelConfig }) {
  const [result, setResult] = useState<string>()
  const params = { org_id: config.organization_id }
  const { run, busy, error } = useAction(async (idempotencyKey) => {
    const { message } = await api.post('/whitelabel/config/{org_id}/verify-domain', {
      params,
      idempotencyKey,
    })
    setResult(message)
    forget('white-label')
  })
  return (
    <Card
      title={t.domain}
      actions={
        <button type="button" class="small" disabled={busy} onClick={() => void run()}>
          {t.check}
        </button>
      }
    >
      <div class="stack">
        <Failed error={error} />
        <p>
          <Text>{config.whitelabel.custom_domain}</Text> <HostState {...config} />
        </p>
        <p class="muted">
          {t.checked}: <Time iso={config.domain_verified_at} form="dateTime" />
        </p>
        <p role="status">
          {result ? (
            <span lang="en">
              <Text>{result}</Text>
            </span>
          ) : (
            t.checkHint
          )}
        </p>
      </div>
    </Card>
  )
}
