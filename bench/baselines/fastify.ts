import fastify from 'fastify'
import { body } from './body.ts'

const app = fastify()
app.get('/', async () => body)
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
