import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import * as errors from './management.errors.ts'
import * as shapes from './management.schemas.ts'
import type { ManagementService } from './management.service.ts'

const reading = { auth: key('read'), errors: [errors.MailboxNotFound] }
const creating = {
  auth: key('write'),
  errors: [errors.MailboxNotFound, errors.CollectionsFull],
}

export const managementRoutes =
  (management: ManagementService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/discovery', {
      config: { auth: key('read') },
      schema: {
        operationId: 'get_caldav_discovery',
        summary: 'URLs at which programs find calendars and contacts',
        response: { 200: Success(shapes.Discovery) },
      },
      handler: async () => success('Discovery retrieved successfully', management.discovery()),
    })

    app.get('/calendars/:email', {
      config: reading,
      schema: {
        operationId: 'list_calendars',
        summary: 'List the calendars and task lists of a mailbox or shared mailbox',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.CollectionList) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Calendars retrieved successfully',
          await management.calendars(caller, params.email),
        ),
    })

    app.post('/calendars/:email', {
      config: creating,
      schema: {
        operationId: 'create_calendar',
        summary: 'Create the usual calendars of a mailbox, or one more with a name',
        params: shapes.MailboxParams,
        body: shapes.NewCollection,
        response: { 201: Success(shapes.CollectionList) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const created = await management.createCalendar(caller, params.email, body?.name)
        return reply.code(201).send(success('Calendars created successfully', created))
      },
    })

    app.get('/addressbooks/:email', {
      config: reading,
      schema: {
        operationId: 'list_address_books',
        summary: 'List the address books of a mailbox or shared mailbox',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.CollectionList) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Address books retrieved successfully',
          await management.addressBooks(caller, params.email),
        ),
    })

    app.post('/addressbooks/:email', {
      config: creating,
      schema: {
        operationId: 'create_address_book',
        summary: 'Create the usual address book of a mailbox, or one more with a name',
        params: shapes.MailboxParams,
        body: shapes.NewCollection,
        response: { 201: Success(shapes.CollectionList) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const created = await management.createAddressBook(caller, params.email, body?.name)
        return reply.code(201).send(success('Address books created successfully', created))
      },
    })

    app.get('/contacts/:email', {
      config: { ...reading, errors: [...reading.errors, ...WORK_ERRORS] },
      schema: {
        operationId: 'list_contacts',
        summary: 'List the contacts of a mailbox or shared mailbox',
        params: shapes.MailboxParams,
        querystring: shapes.ContactQuery,
        response: { 200: Success(Paginated(shapes.Contact)) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Contacts retrieved successfully',
          await management.contacts(caller, params.email, pageOf(query)),
        ),
    })

    app.post('/contacts/:email', {
      config: {
        ...creating,
        errors: [...creating.errors, errors.ContactExists, errors.UnusableContact, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'create_contact',
        summary: 'Add a contact to the address book `contacts`, as a vCard or by fields',
        params: shapes.MailboxParams,
        body: shapes.NewContact,
        response: {
          201: Success(
            Type.Object({ id: Type.String(), address_book_id: Type.String(), uid: Type.String() }),
          ),
        },
      },
      handler: async ({ caller, params, body }, reply) => {
        const created = await management.createContact(caller, params.email, body)
        return reply.code(201).send(success('Contact created successfully', created))
      },
    })

    app.post('/contacts/sync/:email', {
      config: creating,
      schema: {
        operationId: 'collect_contacts',
        summary: 'Build contacts from the people that a mailbox has written to',
        description:
          'They are in the address book `collected`, at most 500 for each request. A contact that was deleted there is not added again.',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.Collected) },
      },
      handler: async ({ caller, params }) =>
        success('Contacts collected successfully', await management.collect(caller, params.email)),
    })
  }
