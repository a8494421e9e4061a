"""A tracker of issues in memory, whose document FastAPI writes: a service that knows nothing of the generator.

    service.py             prints its URL, and serves on loopback until it is killed
    service.py --document  prints its OpenAPI document
"""

import asyncio, datetime, enum, json, socket, sys
from contextlib import asynccontextmanager
from typing import Annotated, Literal, Optional, Union

import uvicorn
from fastapi import Depends, FastAPI, File, Form, Header, HTTPException, Query, Request, Response, UploadFile
from fastapi.responses import PlainTextResponse, StreamingResponse
from fastapi.security import OAuth2PasswordBearer, OAuth2PasswordRequestForm
from pydantic import BaseModel, Field


class State(str, enum.Enum):
    open = 'open'
    closed = 'closed'


class Person(BaseModel):
    name: str = Field(min_length=1, max_length=40)
    site: Optional[str] = None


class Label(BaseModel):
    kind: Literal['label'] = 'label'
    color: str = Field(pattern='^[0-9a-f]{6}$')


class Milestone(BaseModel):
    kind: Literal['milestone'] = 'milestone'
    due: Optional[datetime.date] = None


Mark = Annotated[Union[Label, Milestone], Field(discriminator='kind')]


class NewIssue(BaseModel):
    title: str = Field(min_length=1, max_length=80)
    body: Optional[str] = None
    state: State = State.open
    assignee: Optional[Person] = None
    marks: list[Mark] = []
    weights: dict[str, float] = {}


class Issue(NewIssue):
    number: int = Field(ge=1)
    created_at: datetime.datetime
    parent: Optional['Issue'] = None


class IssueChange(BaseModel):
    title: Optional[str] = Field(None, min_length=1, max_length=80)
    state: Optional[State] = None


class Problem(BaseModel):
    detail: str


class Token(BaseModel):
    access_token: str
    token_type: str


class Stored(BaseModel):
    name: str
    size: int
    note: Optional[str] = None
    tags: list[str]


class Change(BaseModel):
    number: int
    state: State


class Found(BaseModel):
    ids: list[int]
    states: list[State]
    trace: Optional[str]


issues: dict[int, Issue] = {}
missing = {404: {'model': Problem, 'description': 'There is no such issue.'}}
denied = {401: {'model': Problem, 'description': 'The token is missing.'}}
bearer = OAuth2PasswordBearer(tokenUrl='login')
first_day = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)


@asynccontextmanager
async def lifespan(app):
    for number in range(1, 6):
        marks = [Label(color='ff0000')] if number % 2 else [Milestone(due=datetime.date(2026, 2, number))]
        issues[number] = Issue(number=number, title='Issue %d' % number, created_at=first_day, marks=marks, weights={'a': 0.5})
    issues[2].parent = issues[1].model_copy()
    yield


app = FastAPI(title='Desk', version='1', lifespan=lifespan, generate_unique_id_function=lambda route: route.name)


def found(number):
    if number not in issues:
        raise HTTPException(404, 'There is no issue %d.' % number)
    return issues[number]


@app.post('/login', tags=['Account'])
async def log_in(form: Annotated[OAuth2PasswordRequestForm, Depends()]) -> Token:
    """Exchange a user and a password for a token."""
    return Token(access_token=form.username, token_type='bearer')


@app.get('/issues', tags=['Issues'], responses={200: {'headers': {'Link': {'schema': {'type': 'string'}}}}})
async def list_issues(request: Request, response: Response, state: Optional[State] = None,
                      page: Annotated[int, Query(ge=1)] = 1, per_page: Annotated[int, Query(ge=1, le=100)] = 2) -> list[Issue]:
    """List issues

    The header `Link` leads to the next page.
    """
    chosen = [issue for issue in issues.values() if state in (None, issue.state)]
    start = (page - 1) * per_page
    if start + per_page < len(chosen):
        response.headers['Link'] = '<%s>; rel="next"' % request.url.include_query_params(page=page + 1)
    return chosen[start:start + per_page]


@app.post('/issues', status_code=201, tags=['Issues'], responses=denied)
async def create_issue(issue: NewIssue, user: Annotated[str, Depends(bearer)]) -> Issue:
    """Create an issue."""
    number = max(issues, default=0) + 1
    issues[number] = Issue(number=number, created_at=first_day, **issue.model_dump())
    return issues[number]


@app.get('/issues/{number}', tags=['Issues'], responses=missing)
async def get_issue(number: int) -> Issue:
    """Get an issue."""
    return found(number)


@app.patch('/issues/{number}', tags=['Issues'], responses={**missing, **denied})
async def change_issue(number: int, change: IssueChange, user: Annotated[str, Depends(bearer)]) -> Issue:
    """Change an issue."""
    issue = found(number)
    issues[number] = issue.model_copy(update=change.model_dump(exclude_none=True))
    return issues[number]


@app.delete('/issues/{number}', status_code=204, tags=['Issues'], responses={**missing, **denied})
async def delete_issue(number: int, user: Annotated[str, Depends(bearer)]) -> None:
    """Delete an issue."""
    del issues[found(number).number]


@app.get('/search', tags=['Issues'])
async def search(ids: Annotated[list[int], Query()] = [], states: Annotated[list[State], Query()] = [],
                 x_trace: Annotated[Optional[str], Header()] = None) -> Found:
    """Return the parameters."""
    return Found(ids=ids, states=states, trace=x_trace)


@app.post('/files', tags=['Files'])
async def store(file: UploadFile, tags: Annotated[list[str], Form()], note: Annotated[Optional[str], Form()] = None) -> Stored:
    """Store a file."""
    return Stored(name=file.filename or '', size=len(await file.read()), note=note, tags=tags)


@app.get('/motto', tags=['Files'], response_class=PlainTextResponse)
async def motto() -> str:
    """Get the motto."""
    return 'One thing at a time.'


@app.post('/reports', status_code=202, tags=['Files'],
          responses={202: {'headers': {'Location': {'schema': {'type': 'string'}}}}})
async def start_report(response: Response) -> None:
    """Start a report."""
    response.headers['Location'] = '/reports/1'


class Events(StreamingResponse):
    media_type = 'text/event-stream'


@app.get('/events', tags=['Issues'], response_class=Events)
async def watch_issues():
    """Watch the issues."""
    async def events():
        for number, state in ((1, 'closed'), (2, 'open')):
            yield 'data: %s\n\n' % json.dumps({'number': number, 'state': state})
            await asyncio.sleep(0)
    return Events(events())


def document():
    schema = app.openapi()
    schema['components']['schemas']['Change'] = {
        'type': 'object', 'required': ['number', 'state'],
        'properties': {'number': {'type': 'integer'}, 'state': {'$ref': '#/components/schemas/State'}}}
    schema['paths']['/events']['get']['responses']['200']['content'] = {
        'text/event-stream': {'schema': {'$ref': '#/components/schemas/Change'}}}
    return schema


def main():
    if '--document' in sys.argv:
        print(json.dumps(document(), indent=1))
        return
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen()
    print('http://127.0.0.1:%d' % listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level='error')).run(sockets=[listener])


main()
