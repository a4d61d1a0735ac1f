import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { OneOf } from '../../http/envelope.ts'

export const EncryptionKeyImported = defineEvent('encryption.key.imported', {
  source: 'encryption',
  summary: 'An OpenPGP key or an S/MIME certificate was imported',
  data: Type.Object({
    user: Type.String({ examples: ['ada@acme.example'] }),
    key_type: OneOf(['pgp', 'smime']),
    fingerprint: Type.String({ examples: ['3AA5C34371567BD23AA5C34371567BD23AA5C343'] }),
    has_private: Type.Boolean(),
  }),
})
