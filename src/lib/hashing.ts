import { availableParallelism } from 'node:os'
import { limiter } from './mutex.ts'

/** More hashes in flight than cores starve the thread pool that file and DNS work shares. */
export const hashingTurn = limiter(availableParallelism())
