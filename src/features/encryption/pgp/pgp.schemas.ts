import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { MAX_ARMOUR_BYTES } from './packets.ts'

const MAX_TEXT = 1_000_000
const MAX_RECIPIENTS = 50
const MIN_PASSPHRASE = 8

export const organization_id = Type.Optional(
  Type.String({ description: 'Platform callers only: the organization that is meant' }),
)
export const address = Type.String({
  minLength: 3,
  maxLength: 320,
  examples: ['ada@acme.example'],
})
export const newPassphrase = Type.String({
  minLength: MIN_PASSPHRASE,
  maxLength: 1024,
  description: 'Locks the private key; it is not stored, and a lost one cannot be replaced',
})
export const passphrase = Type.String({ minLength: 1, maxLength: 1024 })
const armour = (what: string) =>
  Type.String({ minLength: 1, maxLength: MAX_ARMOUR_BYTES, description: what })
export const text = Type.String({ maxLength: MAX_TEXT, examples: ['Hello'] })

const Key = {
  id: Type.String(),
  organization_id: Type.String(),
  account_id: Nullable(Type.String({ description: 'null: the key of a correspondent' })),
  email: address,
  fingerprint: Type.String({ examples: ['3AA5C34371567BD23AA5C34371567BD23AA5C343'] }),
  user_id: Type.String({ examples: ['Ada <ada@acme.example>'] }),
  key_type: Type.String({ examples: ['ed25519'] }),
  key_length: Nullable(Type.Integer({ description: 'In bits; null where the type says it' })),
  has_private: Type.Boolean(),
  can_encrypt: Type.Boolean(),
  preferred: Type.Boolean({ description: 'Mail to the address is encrypted to this key' }),
  expires_at: Nullable(Timestamp),
  revoked: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const PgpKeySummary = Type.Object(Key, { title: 'PgpKeySummary' })
export const PgpKey = Type.Object(
  { ...Key, public_key: Type.String({ description: 'In ASCII armour' }) },
  { title: 'PgpKey' },
)
export const PrivateKey = Type.Object(
  { fingerprint: Key.fingerprint, private_key: Type.String({ description: 'In ASCII armour' }) },
  { title: 'PgpPrivateKey' },
)
export const KeyParams = Type.Object({ fingerprint: Type.String({ maxLength: 64 }) })
export const OwnKeyQuery = Type.Object(PageQuery)
export const KeyQuery = Type.Object({
  ...PageQuery,
  email: Type.Optional(address),
  organization_id,
})
export const OneKeyQuery = Type.Object({
  email: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'Address of the key, needed when several addresses have it',
    }),
  ),
  organization_id,
})
export const Deleted = Type.Object({ fingerprint: Type.String(), deleted: Type.Integer() })

export const KeyJob = Type.Object(
  {
    job_id: Type.String(),
    email: address,
    status: OneOf(['running', 'completed', 'failed']),
    fingerprint: Nullable(Type.String()),
    error: Nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'PgpKeyJob' },
)
export const JobParams = Type.Object({ job_id: Type.String() })
export const JobQuery = Type.Object({ organization_id })

/** The fields of a holder; tenants name the mailbox besides. */
export const generateFields = {
  name: Type.Optional(Type.String({ maxLength: 255, examples: ['Ada Lovelace'] })),
  passphrase: newPassphrase,
  key_type: Type.Optional(
    OneOf(['ECC', 'RSA'], {
      default: 'ECC',
      description: 'ECC: Curve25519, made at once; RSA takes long and is a job',
    }),
  ),
  key_length: Type.Optional(
    Type.Integer({ enum: [2048, 3072, 4096], default: 4096, description: 'Of RSA, in bits' }),
  ),
  expire_date: Type.Optional(
    Type.String({
      pattern: '^(0|[1-9][0-9]{0,3}[dwmy])$',
      default: '0',
      description: 'From now on in days, weeks, months or years; 0: never',
      examples: ['2y'],
    }),
  ),
}
export const importFields = {
  key: armour('A public or private key in ASCII armour'),
  passphrase: Type.Optional(
    Type.String({
      minLength: MIN_PASSPHRASE,
      maxLength: 1024,
      description: 'For a private key: opens it, or locks it if it is open',
    }),
  ),
}
export const GenerateBody = Body({ email: address, ...generateFields, organization_id })
export const ImportBody = Body({ email: address, ...importFields, organization_id })
export const OwnGenerateBody = Body(generateFields)
export const OwnImportBody = Body(importFields)

const recipients = Type.Array(address, { minItems: 1, maxItems: MAX_RECIPIENTS })
export const encryptFields = {
  recipient_email: Type.Optional(address),
  recipients: Type.Optional(recipients),
  message: text,
}
export const decryptFields = {
  passphrase,
  encrypted_message: armour('In ASCII armour'),
  sender_email: Type.Optional(address),
}
export const signFields = {
  passphrase,
  message: text,
  detached: Type.Optional(Type.Boolean({ default: false })),
}
export const verifyFields = {
  message: text,
  signature: Type.Optional(armour('A detached signature in ASCII armour')),
  sender_email: address,
}
export const EncryptBody = Body({ ...encryptFields, organization_id })
export const DecryptBody = Body({ email: address, ...decryptFields, organization_id })
export const SignBody = Body({ email: address, ...signFields, organization_id })
export const VerifyBody = Body({ ...verifyFields, organization_id })
export const OwnEncryptBody = Body(encryptFields)
export const OwnDecryptBody = Body(decryptFields)
export const OwnSignBody = Body(signFields)
export const OwnVerifyBody = Body(verifyFields)

const Signatures = Type.Array(
  Type.Object({
    key_id: Type.String({ examples: ['71567BD23AA5C343'] }),
    valid: Type.Boolean(),
    problem: Nullable(Type.String()),
  }),
)
export const Encrypted = Type.Object({ encrypted_message: Type.String() })
export const Decrypted = Type.Object({ message: Type.String(), signatures: Signatures })
export const Signed = Type.Object({ signed_message: Type.String() })
export const Verified = Type.Object({
  valid: Type.Boolean({ description: 'There is a signature, and all of them are valid' }),
  message: Type.String(),
  signatures: Signatures,
})

export const Delivery = Type.Object(
  {
    enabled: Type.Boolean(),
    method: OneOf(['pgp', 'smime']),
    fingerprint: Nullable(
      Type.String({ description: 'The key or certificate that mail is encrypted to' }),
    ),
    updated_at: Nullable(Timestamp),
  },
  { title: 'EncryptedDelivery' },
)
export const DeliveryBody = Body({
  enabled: Type.Boolean(),
  method: Type.Optional(OneOf(['pgp', 'smime'], { description: 'Unset: as before, or pgp' })),
})
