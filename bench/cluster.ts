import { measureParts } from './parts.ts'

// Measures several processes and machines.
await measureParts('cluster')
