import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { forget, useQuery } from '../lib/query.ts'
import { RowButton } from './buttons.tsx'
import { ConfirmByName } from './confirm.tsx'
import { Download } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Failed } from './failed.tsx'
import { Field, TextArea } from './field.tsx'
import { Form, FormDialog, type Values } from './form.tsx'
import { t } from './keys.words.ts'
import { ListTable, useList } from './list.tsx'
import { Badge, Text, Time } from './page.tsx'
import { toast } from './toast.tsx'
import { t as common } from './words.ts'

/** An OpenPGP key, or an S/MIME certificate, which has a subject. */
export interface Stored {
  id: string
  email: string
  fingerprint: string
  user_id?: string
  subject?: string
  has_private: boolean
  preferred: boolean
  revoked?: boolean
  expires_at: string | null
  created_at: string
}

/** The actions of a surface on its keys or certificates. */
export interface KeyCalls {
  /** The start of the query key, and the name of downloaded files. */
  name: string
  list(page: { page: number; per_page: number }): Promise<{ items: readonly Stored[] }>
  publicPart(one: Stored): Promise<string>
  privateKey?(one: Stored): Promise<string>
  prefer?: ((one: Stored, idempotencyKey: string) => Promise<unknown>) | undefined
  remove?: ((one: Stored, idempotencyKey: string) => Promise<unknown>) | undefined
}

export function KeyList({
  calls,
  caption,
  withAddress = false,
  empty,
}: {
  calls: KeyCalls
  caption: string
  withAddress?: boolean
  empty: ComponentChildren
}) {
  const [shown, setShown] = useState<Stored>()
  const [deleting, setDeleting] = useState<Stored>()
  const list = useList<Stored>({
    name: calls.name,
    sort: 'created_at',
    dir: 'desc',
    read: ({ page, per_page }) => calls.list({ page, per_page }),
  })
  const address = { title: t.address, cell: ({ email }: Stored) => <Text>{email}</Text> }
  return (
    <>
      <ListTable
        list={list}
        caption={caption}
        columns={[
          ...(withAddress ? [address] : []),
          { title: t.key, minor: withAddress, cell: (one) => <code>{nameOf(one)}</code> },
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
              <RowButton name={shortOf(one)} onClick={() => setShown(one)}>
                {t.show}
              </RowButton>
            ),
          },
        ]}
        rowKey={({ id }) => id}
        empty={empty}
      />
      <Dialog
        title={shown?.subject === undefined ? t.key : t.certificate}
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        size="wide"
      >
        {shown && (
          <Shown
            one={shown}
            calls={calls}
            onClose={() => setShown(undefined)}
            onDelete={() => {
              setShown(undefined)
              setDeleting(shown)
            }}
          />
        )}
      </Dialog>
      <ConfirmByName
        name={deleting ? shortOf(deleting) : ''}
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={t.deleteTitle}
        submit={t.delete}
        onConfirm={async (idempotencyKey) => {
          if (!deleting) return
          await calls.remove?.(deleting, idempotencyKey)
          forgetAll(calls.name)
          toast(t.deleted)
        }}
      >
        <p>{t.deleteHint}</p>
      </ConfirmByName>
    </>
  )
}

function forgetAll(name: string): void {
  forget(name)
  forget('encrypted-delivery')
}

const State = ({ preferred, revoked, has_private, expires_at }: Stored) => (
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

/** The public part to hand on, and the locked private key for the own mail program. */
function Shown({
  one,
  calls,
  onClose,
  onDelete,
}: {
  one: Stored
  calls: KeyCalls
  onClose(): void
  onDelete(): void
}) {
  const { fingerprint, has_private, preferred } = one
  const { privateKey, prefer } = calls
  const part = useQuery(`${calls.name} ${fingerprint}`, () => calls.publicPart(one))
  const ending = one.subject === undefined ? 'asc' : 'pem'
  return (
    <div class="rows">
      <Failed error={part.error} again={part.again} />
      <p>
        <Text>{one.subject ?? one.user_id ?? one.email}</Text>
      </p>
      <p>
        <code>{grouped(fingerprint)}</code>
      </p>
      {part.data && (
        <p>
          <Download name={`${one.email}.${ending}`} text={part.data}>
            {t.download}
          </Download>
        </p>
      )}
      {has_private && privateKey && (
        <Private
          name={`${one.email}.private.${ending}`}
          read={() => privateKey(one)}
          about={`${calls.name} secret ${fingerprint}`}
        />
      )}
      {!preferred && prefer && (
        <Form
          submit={t.prefer}
          onSubmit={async (_values, idempotencyKey) => {
            await prefer(one, idempotencyKey)
            forgetAll(calls.name)
            toast(t.nowPreferred)
            onClose()
          }}
        >
          <p class="muted">{t.preferHint}</p>
        </Form>
      )}
      {calls.remove && (
        <p>
          <button type="button" class="danger" onClick={onDelete}>
            {t.delete}
          </button>
        </p>
      )}
    </div>
  )
}

function Private({
  name,
  about,
  read,
}: {
  name: string
  /** The query key. */
  about: string
  read(): Promise<string>
}) {
  const { data, error, again } = useQuery(about, read)
  return (
    <>
      <Failed error={error} again={again} />
      {data && (
        <p>
          <Download name={name} text={data}>
            {t.downloadPrivate}
          </Download>
        </p>
      )}
    </>
  )
}

export interface KeyImport {
  key: string
  passphrase?: string
}

export interface CertificateImport {
  certificate?: string
  pkcs12?: string
  passphrase?: string
}

interface ImportProps<Body> {
  /** The start of the query key of the list. */
  name: string
  withAddress?: boolean
  send(body: Body & { email: string }, idempotencyKey: string): Promise<unknown>
}

export const ImportKey = (props: ImportProps<KeyImport>) => (
  <Import
    {...props}
    title={t.import}
    hint={t.importHint}
    read={async (values) => ({ key: values.text('key') })}
  >
    <TextArea label={t.keyText} name="key" rows={8} required />
  </Import>
)

export const ImportCertificate = (props: ImportProps<CertificateImport>) => (
  <Import
    {...props}
    title={t.importCertificate}
    hint={t.importCertificateHint}
    read={(values) => certificateIn(values.file('file'))}
  >
    <Field label={t.file} name="file" type="file" accept=".p12,.pfx,.pem,.crt" required />
  </Import>
)

function Import<Body extends object>({
  name,
  withAddress,
  send,
  title,
  hint,
  read,
  children,
}: ImportProps<Body> & {
  title: string
  hint: string
  read(values: Values): Promise<Body>
  children: ComponentChildren
}) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {title}
      </button>
      <FormDialog
        title={title}
        open={open}
        onClose={() => setOpen(false)}
        submit={title}
        onSubmit={async (values, idempotencyKey) => {
          const passphrase = values.secret('passphrase')
          const body = {
            ...(await read(values)),
            email: values.text('email'),
            ...(passphrase !== '' && { passphrase }),
          }
          await send(body, idempotencyKey)
          forgetAll(name)
          toast(t.imported)
        }}
      >
        <p class="muted">{hint}</p>
        {withAddress && <Field label={t.address} name="email" type="email" required />}
        {children}
        <Field
          label={t.passphrase}
          name="passphrase"
          type="password"
          hint={t.importPassphrase}
          maxLength={1024}
          autocomplete="new-password"
        />
      </FormDialog>
    </>
  )
}

/** PEM is text; the other files are PKCS #12. */
async function certificateIn(file: File): Promise<CertificateImport> {
  const text = await file.text()
  if (text.includes('-----BEGIN ')) return { certificate: text }
  const bytes = new Uint8Array(await file.arrayBuffer())
  return { pkcs12: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')) }
}

const nameOf = ({ fingerprint, subject }: Stored): string =>
  subject ?? grouped(fingerprint.slice(-16))
const grouped = (fingerprint: string): string => fingerprint.replace(/(.{4})(?=.)/g, '$1 ')
const shortOf = ({ fingerprint }: Stored): string => fingerprint.slice(-8)
