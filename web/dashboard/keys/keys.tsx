import type { ComponentChildren } from 'preact'
import { useMay } from '../../lib/may.ts'
import {
  ImportCertificate,
  ImportKey,
  type KeyCalls,
  KeyList,
  type Stored,
} from '../../ui/keys.tsx'
import { t as words } from '../../ui/keys.words.ts'
import { Empty, Heading } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

/** Several addresses may have the same key. */
const about = ({ fingerprint, email }: Stored) => ({ params: { fingerprint }, query: { email } })

export function Keys() {
  const isWriting = useMay()<'POST /encryption/pgp/import'>('write')
  const calls: KeyCalls = {
    name: 'pgp-keys',
    list: (query) => api.get('/encryption/pgp/keys', { query }),
    publicPart: async (one) =>
      (await api.get('/encryption/pgp/keys/{fingerprint}', about(one))).public_key,
    ...(isWriting && {
      prefer: (one, idempotencyKey) =>
        api.post('/encryption/pgp/keys/{fingerprint}/prefer', { ...about(one), idempotencyKey }),
      remove: (one, idempotencyKey) =>
        api.delete('/encryption/pgp/keys/{fingerprint}', { ...about(one), idempotencyKey }),
    }),
  }
  return (
    <Page calls={calls} title={titles.keys} caption={words.keys}>
      {isWriting && (
        <ImportKey
          name={calls.name}
          withAddress
          send={(body, idempotencyKey) =>
            api.post('/encryption/pgp/import', { body, idempotencyKey })
          }
        />
      )}
    </Page>
  )
}

export function Certificates() {
  const isWriting = useMay()<'POST /encryption/smime/import'>('write')
  const calls: KeyCalls = {
    name: 'smime-certificates',
    list: (query) => api.get('/encryption/smime/certs', { query }),
    publicPart: async (one) =>
      (await api.get('/encryption/smime/certs/{fingerprint}', about(one))).certificate,
    ...(isWriting && {
      prefer: (one, idempotencyKey) =>
        api.post('/encryption/smime/certs/{fingerprint}/prefer', { ...about(one), idempotencyKey }),
      remove: (one, idempotencyKey) =>
        api.delete('/encryption/smime/certs/{fingerprint}', { ...about(one), idempotencyKey }),
    }),
  }
  return (
    <Page calls={calls} title={words.certificates} caption={words.certificates}>
      {isWriting && (
        <ImportCertificate
          name={calls.name}
          withAddress
          send={(body, idempotencyKey) =>
            api.post('/encryption/smime/import', { body, idempotencyKey })
          }
        />
      )}
    </Page>
  )
}

const Page = ({
  calls,
  title,
  caption,
  children,
}: {
  calls: KeyCalls
  title: string
  caption: string
  children: ComponentChildren
}) => (
  <>
    <Heading title={title}>{children}</Heading>
    <Tabs
      label={titles.keys}
      tabs={[
        ['/app/keys', words.keys],
        ['/app/keys/certificates', words.certificates],
      ]}
    />
    <p class="muted prose gap">{t.hint}</p>
    <KeyList
      calls={calls}
      caption={caption}
      withAddress
      empty={<Empty title={t.none}>{t.noneHint}</Empty>}
    />
  </>
)
