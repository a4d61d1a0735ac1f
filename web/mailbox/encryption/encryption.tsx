import { useState } from 'preact/hooks'
import type { EncryptedDelivery } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field, Select } from '../../ui/field.tsx'
import { Form, FormDialog } from '../../ui/form.tsx'
import {
  ImportCertificate,
  ImportKey,
  type KeyCalls,
  KeyList,
  type Stored,
} from '../../ui/keys.tsx'
import { t as words } from '../../ui/keys.words.ts'
import { Card, Empty, Heading } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const MIN_PASSPHRASE = 8

const about = ({ fingerprint }: Stored) => ({ params: { fingerprint } })

const keyCalls: KeyCalls = {
  name: 'pgp-keys',
  list: (query) => api.get('/mailbox/encryption/pgp/keys', { query }),
  publicPart: async (one) =>
    (await api.get('/mailbox/encryption/pgp/keys/{fingerprint}', about(one))).public_key,
  privateKey: async (one) =>
    (await api.get('/mailbox/encryption/pgp/keys/{fingerprint}/private', about(one))).private_key,
  prefer: (one, idempotencyKey) =>
    api.post('/mailbox/encryption/pgp/keys/{fingerprint}/prefer', {
      ...about(one),
      idempotencyKey,
    }),
  remove: (one, idempotencyKey) =>
    api.delete('/mailbox/encryption/pgp/keys/{fingerprint}', { ...about(one), idempotencyKey }),
}

const certificateCalls: KeyCalls = {
  name: 'smime-certificates',
  list: (query) => api.get('/mailbox/encryption/smime/certs', { query }),
  publicPart: async (one) =>
    (await api.get('/mailbox/encryption/smime/certs/{fingerprint}', about(one))).certificate,
  privateKey: async (one) =>
    (await api.get('/mailbox/encryption/smime/certs/{fingerprint}/private', about(one)))
      .private_key,
  prefer: (one, idempotencyKey) =>
    api.post('/mailbox/encryption/smime/certs/{fingerprint}/prefer', {
      ...about(one),
      idempotencyKey,
    }),
  remove: (one, idempotencyKey) =>
    api.delete('/mailbox/encryption/smime/certs/{fingerprint}', { ...about(one), idempotencyKey }),
}

export function Encryption() {
  const delivery = useQuery('encrypted-delivery', () => api.get('/mailbox/encryption/delivery'))
  return (
    <>
      <Heading title={t.title}>
        <ImportKey
          name={keyCalls.name}
          send={({ email: _, ...body }, idempotencyKey) =>
            api.post('/mailbox/encryption/pgp/import', { body, idempotencyKey })
          }
        />
        <Generate />
      </Heading>
      <p class="muted prose gap">{t.hint}</p>
      <Failed error={delivery.error} again={delivery.again} />
      {delivery.data && <Delivery key={delivery.data.updated_at} setting={delivery.data} />}
      <h2>{words.keys}</h2>
      <KeyList
        calls={keyCalls}
        caption={words.keys}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <h2>{words.certificates}</h2>
      <KeyList
        calls={certificateCalls}
        caption={words.certificates}
        empty={<Empty title={t.noCertificates}>{t.noCertificatesHint}</Empty>}
      />
      <p class="gap">
        <ImportCertificate
          name={certificateCalls.name}
          send={({ email: _, ...body }, idempotencyKey) =>
            api.post('/mailbox/encryption/smime/import', { body, idempotencyKey })
          }
        />
      </p>
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
          const method = values.text('method') as EncryptedDelivery['method']
          const body = { enabled: values.checked('enabled'), method }
          await api.put('/mailbox/encryption/delivery', { body, idempotencyKey })
          forget('encrypted-delivery')
          toast(t.saved)
        }}
      >
        <CheckBox label={t.enabled} name="enabled" checked={setting.enabled} />
        <Select
          label={t.method}
          name="method"
          value={setting.method}
          options={[
            ['pgp', 'OpenPGP'],
            ['smime', 'S/MIME'],
          ]}
        />
      </Form>
    </div>
  </Card>
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
          forget(keyCalls.name)
          forget('encrypted-delivery')
          toast(t.generated)
        }}
      >
        <p class="muted">{t.generateHint}</p>
        <Field label={t.name} name="name" maxLength={255} autocomplete="name" />
        <Field
          label={words.passphrase}
          name="passphrase"
          type="password"
          hint={t.passphraseHint}
          minLength={MIN_PASSPHRASE}
          maxLength={1024}
          autocomplete="new-password"
          required
        />
      </FormDialog>
    </>
  )
}
