import { Type } from 'typebox'
import { OneOf } from '../../http/envelope.ts'

export const Manifest = Type.Object(
  {
    edition: OneOf(['enterprise', 'community']),
    version: Type.String({ examples: ['1.0.0'] }),
    capabilities: Type.Array(Type.String(), {
      description: 'Additive; treat an unknown string as absent',
      examples: [['health', 'docs', 'audit']],
    }),
  },
  { title: 'CapabilityManifest' },
)
