import { useState } from 'preact/hooks'
import type { EncryptedDelivery, PgpKeySummary } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton, RowButton } from '../../ui/buttons.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Download } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field, TextArea } from '../../ui/field.tsx'
import { Form, FormDialog } from '../../ui/form.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const MIN_PASSPHRASE = 8

function forgetKeys(): void {
  forget('pgp-keys')
  forget('encrypted-delivery')
}

export function Encryption() {
  const delivery = useQuery('encrypted-delivery', () => api.get('/mailbox/encryption/delivery'))
  const [shown, setShown] = useState<PgpKeySummary>()
  const [deleting, setDeleting] = useState<PgpKeySummary>()
  const list = useList<PgpKeySummary>({
    name: 'pgp-keys',
    sort: 'created_at',
    dir: 'desc',
    read: ({ page, per_page }) =>
      api.get('/mailbox/encryption/pgp/keys', { query: { page, per_page } }),
  })
  const columns: Column<PgpKeySummary>[] = [
    { title: t.key, cell: ({ fingerprint }) => <code>{grouped(fingerprint)}</code> },
    { title: t.state, cell: State },
    {
      title: t.created,
      minor: true,
      cell: ({ created_at }) => <Time iso={created_at} form="date" />,
    },
    {
      title: common.actions,
      quiet: true,
      cell: (one) => (
        <>
          <RowButton name={shortOf(one)} onClick={() => setShown(one)}>
            {t.show}
          </RowButton>{' '}
          <RowButton name={shortOf(one)} onClick={() => setDeleting(one)}>
            {t.delete}
          </RowButton>
        </>
      ),
    },
  ]
  return (
    <>
      <Heading title={t.title}>
        <Import />
        <Generate />
      </Heading>
      <p class="muted prose gap">{t.hint}</p>
      <Failed error={delivery.error} again={delivery.again} />
      {delivery.data && <Delivery key={delivery.data.updated_at} setting={delivery.data} />}
      <ListTable
        list={list}
        caption={t.keys}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <Dialog
        title={t.key}
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        size="wide"
      >
        {shown && <Shown summary={shown} onClose={() => setShown(undefined)} />}
      </Dialog>
      <Confirm
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={t.deleteTitle}
        submit={t.delete}
        onConfirm={async (idempotencyKey) => {
          if (!deleting) return
          const params = { fingerprint: deleting.fingerprint }
          await api.delete('/mailbox/encryption/pgp/keys/{fingerprint}', { params, idempotencyKey })
          forgetKeys()
          toast(t.deleted)
        }}
      >
        <p>{t.deleteHint}</p>
      </Confirm>
    </>
  )
}

const Delivery = ({ setting }: { setting: EncryptedDelivery }) => (
  <Card title={t.delivery}>
    <div class="narrow">
      <p class="muted prose">{t.deliveryHint}</p>
      <Form
        submit={common.save}
        onSubmit={async (values, idempotencyKey) => {
          const body = { enabled: values.checked('enabled') }
          await api.put('/mailbox/encryption/delivery', { body, idempotencyKey })
          forget('encrypted-delivery')
          toast(t.saved)
        }}
      >
        <CheckBox label={t.enabled} name="enabled" checked={setting.enabled} />
      </Form>
    </div>
  </Card>
)

const State = ({ preferred, revoked, has_private, expires_at }: PgpKeySummary) => (
  <>
    {preferred && <Badge tone="good">{t.preferred}</Badge>}{' '}
    {revoked && <Badge tone="bad">{t.revoked}</Badge>}{' '}
    {has_private && <Badge>{t.hasPrivate}</Badge>}{' '}
    {expires_at && (
      <span class="muted">
        {t.expires} <Time iso={expires_at} form="date" />
      </span>
    )}
  </>
)

/** The public key to hand on, and the locked private one for the own mail program. */
function Shown({ summary, onClose }: { summary: PgpKeySummary; onClose(): void }) {
  const { fingerprint, has_private, preferred } = summary
  const params = { fingerprint }
  const key = useQuery(`pgp-key ${fingerprint}`, () =>
    api.get('/mailbox/encryption/pgp/keys/{fingerprint}', { params }),
  )
  return (
    <div class="rows">
      <Failed error={key.error} again={key.again} />
      <p>
        <Text>{summary.user_id}</Text>
      </p>
      <p>
        <code>{grouped(fingerprint)}</code>
      </p>
      {key.data && (
        <p>
          <Download name="public-key.asc" text={key.data.public_key}>
            {t.downloadPublic}
          </Download>
        </p>
      )}
      {has_private && <PrivateKey fingerprint={fingerprint} />}
      {!preferred && (
        <Form
          submit={t.prefer}
          onSubmit={async (_values, idempotencyKey) => {
            await api.post('/mailbox/encryption/pgp/keys/{fingerprint}/prefer', {
              params,
              idempotencyKey,
            })
            forgetKeys()
            toast(t.nowPreferred)
            onClose()
          }}
        >
          <p class="muted">{t.preferHint}</p>
        </Form>
      )}
    </div>
  )
}

function PrivateKey({ fingerprint }: { fingerprint: string }) {
  const { data, error, again } = useQuery(`pgp-private-key ${fingerprint}`, () =>
    api.get('/mailbox/encryption/pgp/keys/{fingerprint}/private', { params: { fingerprint } }),
  )
  return (
    <>
      <Failed error={error} again={again} />
      {data && (
        <p>
          <Download name="private-key.asc" text={data.private_key}>
            {t.downloadPrivate}
          </Download>
        </p>
      )}
    </>
  )
}

const Passphrase = ({ hint, required }: { hint: string; required?: boolean }) => (
  <Field
    label={t.passphrase}
    name="passphrase"
    type="password"
    hint={hint}
    minLength={MIN_PASSPHRASE}
    maxLength={1024}
    autocomplete="new-password"
    required={required ?? false}
  />
)

function Generate() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <AddButton onClick={() => setOpen(true)}>{t.generate}</AddButton>
      <FormDialog
        title={t.generate}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.generate}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/mailbox/encryption/pgp/generate', {
            body: { name: values.text('name'), passphrase: values.secret('passphrase') },
            idempotencyKey,
          })
          forgetKeys()
          toast(t.generated)
        }}
      >
        <p class="muted">{t.generateHint}</p>
        <Field label={t.name} name="name" maxLength={255} autocomplete="name" />
        <Passphrase hint={t.passphraseHint} required />
      </FormDialog>
    </>
  )
}

function Import() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t.import}
      </button>
      <FormDialog
        title={t.import}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.import}
        onSubmit={async (values, idempotencyKey) => {
          const passphrase = values.secret('passphrase')
          await api.post('/mailbox/encryption/pgp/import', {
            body: { key: values.text('key'), ...(passphrase !== '' && { passphrase }) },
            idempotencyKey,
          })
          forgetKeys()
          toast(t.imported)
        }}
      >
        <p class="muted">{t.importHint}</p>
        <TextArea label={t.keyText} name="key" rows={8} required />
        <Passphrase hint={t.importPassphrase} />
      </FormDialog>
    </>
  )
}

const grouped = (fingerprint: string): string => fingerprint.replace(/(.{4})(?=.)/g, '$1 ')
const shortOf = ({ fingerprint }: PgpKeySummary): string => fingerprint.slice(-8)
