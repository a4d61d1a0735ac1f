import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import * as pgp from '../pgp/pgp.schemas.ts'

const MAX_CMS = 2 * 1024 * 1024
const MAX_FILE = 256 * 1024

const { address, organization_id, passphrase, text } = pgp

const Certificate = {
  id: Type.String(),
  organization_id: Type.String(),
  account_id: Nullable(Type.String({ description: 'null: the certificate of a correspondent' })),
  email: address,
  fingerprint: Type.String({ description: 'SHA-256 of the certificate' }),
  subject: Type.String({ examples: ['CN=Ada Lovelace'] }),
  issuer: Type.String({ examples: ['CN=Example CA'] }),
  serial: Type.String({ examples: ['1F'] }),
  key_type: Type.String({ examples: ['rsa'] }),
  key_length: Type.Integer({ description: 'In bits' }),
  has_private: Type.Boolean(),
  can_encrypt: Type.Boolean(),
  can_sign: Type.Boolean(),
  preferred: Type.Boolean({ description: 'Mail to the address is encrypted to this certificate' }),
  not_before: Timestamp,
  expires_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const CertificateSummary = Type.Object(Certificate, { title: 'SmimeCertificateSummary' })
export const SmimeCertificate = Type.Object(
  {
    ...Certificate,
    certificate: Type.String({ description: 'In PEM' }),
    chain: Type.String({ description: 'In PEM: certificates that were sent with it' }),
  },
  { title: 'SmimeCertificate' },
)
export const PrivateKey = Type.Object(
  {
    fingerprint: Certificate.fingerprint,
    private_key: Type.String({ description: 'PKCS #8 in PEM, locked with the passphrase' }),
  },
  { title: 'SmimePrivateKey' },
)
export const CertificateParams = Type.Object({ fingerprint: Type.String({ maxLength: 128 }) })

const importFields = {
  certificate: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_FILE,
      description: 'In PEM: the certificate, others that vouch for it, and the private key, if any',
    }),
  ),
  pkcs12: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_FILE,
      contentEncoding: 'base64',
      description: 'A PKCS #12 file (.p12, .pfx) in Base64 instead',
    }),
  ),
  passphrase: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'Opens the private key, and locks it here; it is not stored',
    }),
  ),
  new_passphrase: Type.Optional({
    ...pgp.newPassphrase,
    description: 'Locks the private key here, instead of the passphrase that opens it',
  }),
}
export const ImportBody = Body({ email: address, ...importFields, organization_id })
export const OwnImportBody = Body(importFields)

const encryptFields = {
  ...pgp.encryptFields,
  message: {
    ...text,
    description: 'Mail programs expect a MIME part with its header',
  },
  cipher: Type.Optional(
    OneOf(['aes-256-cbc', 'aes-256-gcm'], {
      default: 'aes-256-cbc',
      description: 'Fewer programs read aes-256-gcm, which detects changes',
    }),
  ),
}
const decryptFields = {
  passphrase,
  encrypted_message: Type.String({
    minLength: 1,
    maxLength: MAX_CMS,
    description: 'application/pkcs7-mime with its header, or CMS in PEM',
  }),
  sender_email: Type.Optional(address),
}
const verifyFields = {
  message: Type.String({
    maxLength: MAX_CMS,
    description: 'multipart/signed or application/pkcs7-mime with its header, or CMS in PEM',
  }),
  signature: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_CMS, description: 'Of the message, as CMS in PEM' }),
  ),
  sender_email: address,
}
export const EncryptBody = Body({ ...encryptFields, organization_id })
export const DecryptBody = Body({ email: address, ...decryptFields, organization_id })
export const VerifyBody = Body({ ...verifyFields, organization_id })
export const OwnEncryptBody = Body(encryptFields)
export const OwnDecryptBody = Body(decryptFields)
export const OwnVerifyBody = Body(verifyFields)

const Signatures = Type.Array(
  Type.Object({
    fingerprint: Nullable(Type.String({ description: 'Of the certificate of the signer' })),
    signer: Nullable(Type.String({ examples: ['ada@acme.example'] })),
    valid: Type.Boolean(),
    trusted_by: Nullable(
      OneOf(['root', 'stored'], {
        description: 'A root of the operator, or the organization has stored the certificate',
      }),
    ),
    problem: Nullable(Type.String()),
  }),
)
export const Decrypted = Type.Object({ message: Type.String(), signatures: Signatures })
export const Verified = Type.Object({
  valid: Type.Boolean({ description: 'There is a signature, and all of them are valid' }),
  message: Type.String(),
  signatures: Signatures,
})
