package main

// A worker for Baton: it registers, keeps a stream to every scheduler node, and obeys the one that leads.
// docs/worker-protocol.md tells what each rule is for. All state belongs to one goroutine, which runs what it gets
// through Worker.do; handlers, streams and the registration have goroutines of their own.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"dev.baton/examples/worker/batonv1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	callTimeout     = 5 * time.Second
	drainLimit      = 30 * time.Second
	grace           = 10 * time.Second
	unansweredPings = 3
	outputBytes     = 256 << 10
	errorBytes      = 4 << 10
	messageBytes    = 512 << 10
	messagesAhead   = 1024
	neverKept       = 10_000
	returnsKept     = 1_000
)

// Task is what a handler gets. Its context ends when the handler should return.
type Task struct {
	Run, ID, Type  string
	Attempt        int32
	IdempotencyKey string
	params         map[string]string
}

// Decode reads a parameter; one that is absent or of another shape is a Fatal error.
func (t Task) Decode(name string, into any) error {
	text, ok := t.params[name]
	if !ok {
		return Fatal{fmt.Errorf("Expected the parameter '%s', but it is absent.", name)}
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return Fatal{fmt.Errorf("The parameter '%s' has another shape: %w.", name, err)}
	}
	return nil
}

// Handler returns what JSON can hold. After an error the task's retry policy says whether another attempt follows.
type Handler func(context.Context, Task) (any, error)

// Fatal is an error that no further attempt can mend.
type Fatal struct{ error }

// Refused is the cluster's word that it does not take this worker.
type Refused string

func (r Refused) Error() string { return string(r) }

type attempt struct {
	run, task string
	number    int32
}

func nameOf(n *batonv1.AttemptName) attempt { return attempt{n.RunId, n.TaskId, n.Attempt} }

func (a attempt) name() *batonv1.AttemptName {
	return &batonv1.AttemptName{RunId: a.run, TaskId: a.task, Attempt: a.number}
}

type running struct {
	cancel    context.CancelFunc
	cancelled bool
}

// conn is one opening of the stream to a node.
type conn struct {
	node       string
	leaseID    int64
	greetedIn  int64
	unanswered int
	out        chan *batonv1.WorkerMessage
	close      context.CancelFunc
}

type link struct {
	address string
	stop    context.CancelFunc
	now     *conn // nil: it is not open
}

// Worker runs tasks of the types in Handlers.
type Worker struct {
	ID       string
	Handlers map[string]Handler
	Slots    int
	Known    []string // addresses of scheduler nodes

	incarnation string
	port        int
	do          chan func()
	registerNow chan struct{}

	generation uint64
	term       int64
	leader     string
	leaseID    int64
	leaseUntil time.Time
	links      map[string]*link
	running    map[attempt]*running
	outbox     map[attempt]*batonv1.TaskResult // until a leader has acknowledged them
	lingering  map[attempt]bool                // their result is said, their handler has not returned
	returned   map[attempt]bool                // there was no slot; until that is acknowledged
	never      map[attempt]bool
	neverOrder []attempt
	news       struct{ results, returned, unknown []attempt }
	inventory  bool
	draining   bool
	drained    chan struct{} // closed once draining
	idle       chan struct{} // closed once draining and nothing is left
}

// Run returns once the worker is drained: by an operator, or because ctx has ended.
func (w *Worker) Run(ctx context.Context) error {
	bytes := make([]byte, 8)
	_, _ = rand.Read(bytes)
	w.incarnation = hex.EncodeToString(bytes)
	w.do, w.registerNow = make(chan func()), make(chan struct{}, 1)
	w.drained, w.idle = make(chan struct{}), make(chan struct{})
	w.links, w.running, w.outbox = map[string]*link{}, map[attempt]*running{}, map[attempt]*batonv1.TaskResult{}
	w.lingering, w.returned, w.never = map[attempt]bool{}, map[attempt]bool{}, map[attempt]bool{}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	w.port = listener.Addr().(*net.TCPAddr).Port
	go func() { _ = http.Serve(listener, http.HandlerFunc(w.health)) }()

	life, end := context.WithCancel(context.Background())
	defer end()
	go w.loop(life)
	leaving, refused := make(chan struct{}), make(chan error, 1)
	go func() { refused <- w.keepRegistered(life, leaving) }()

	var limit <-chan time.Time
	select {
	case err := <-refused:
		return err
	case <-ctx.Done():
		limit = time.After(drainLimit)
	case <-w.drained:
	}
	w.do <- w.drain
	select {
	case <-w.idle:
	case err := <-refused:
		return err
	case <-limit:
		log.Print("attempts still run; they are lost, and run elsewhere")
	}
	close(leaving)
	<-refused // or a call under way would register the worker again
	_, err = w.call(life, func(ctx context.Context, s batonv1.WorkflowServiceClient) (any, error) {
		return s.Deregister(ctx, &batonv1.DeregisterRequest{WorkerId: w.ID, Incarnation: w.incarnation})
	})
	log.Printf("worker %s has ended", w.ID)
	return err
}

func (w *Worker) health(answer http.ResponseWriter, _ *http.Request) {
	answer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(answer).Encode(map[string]any{"ok": true, "id": w.ID, "incarnation": w.incarnation})
}

func (w *Worker) loop(life context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-ticks.C:
			w.tick()
		case step := <-w.do:
			step()
		}
		w.flush()
		if w.draining && len(w.running)+len(w.outbox) == 0 {
			closeOnce(w.idle)
		}
	}
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// drain: from now on everything is returned; what runs may end.
func (w *Worker) drain() {
	if !w.draining {
		w.draining = true
		closeOnce(w.drained)
		log.Printf("draining: %d attempts run", len(w.running))
		select {
		case w.registerNow <- struct{}{}:
		default:
		}
	}
}

// Registration.

type registered interface {
	GetLeaseSec() int32
	GetLeaseId() int64
	GetSchedulers() []*batonv1.SchedulerAddress
}

// keepRegistered returns once the worker leaves, or is refused.
func (w *Worker) keepRegistered(life context.Context, leaving <-chan struct{}) error {
	pause, interval := 100*time.Millisecond, 3*time.Second
	anew := true
	for {
		var slots, busy int
		w.sync(func() {
			slots, busy = w.Slots, len(w.running)
			if w.draining {
				slots = 0
			}
		})
		sent := time.Now()
		answer, err := w.call(life, func(ctx context.Context, s batonv1.WorkflowServiceClient) (any, error) {
			if anew {
				return s.Register(ctx, w.registration(slots))
			}
			return s.Heartbeat(ctx, &batonv1.HeartbeatRequest{
				WorkerId: w.ID, Incarnation: w.incarnation, ActiveTasks: int32(busy)})
		})
		if errors.As(err, new(Refused)) {
			return err
		}
		switch answer := answer.(type) {
		case *batonv1.RegisterResponse:
			if !answer.Accepted {
				return Refused(answer.Message)
			}
			anew, interval = false, time.Duration(answer.HeartbeatIntervalSec)*time.Second
			w.sync(func() { w.registered(answer, sent) })
		case *batonv1.HeartbeatResponse:
			if !answer.Ok {
				log.Print(answer.Message)
				w.sync(func() { w.leaseUntil = time.Time{} })
				anew = true
				continue
			}
			w.sync(func() { w.registered(answer, sent) })
		default: // nobody could answer
			select {
			case <-leaving:
				return nil
			case <-time.After(pause):
			}
			pause = min(2*time.Second, 2*pause)
			continue
		}
		pause = 100 * time.Millisecond
		select {
		case <-leaving:
			return nil
		case <-time.After(interval):
		case <-w.registerNow:
			anew = true
		}
	}
}

func (w *Worker) registration(slots int) *batonv1.RegisterRequest {
	types := make([]string, 0, len(w.Handlers))
	for each := range w.Handlers {
		types = append(types, each)
	}
	return &batonv1.RegisterRequest{
		WorkerId: w.ID, Incarnation: w.incarnation, Host: "127.0.0.1", Port: int32(w.port), Capabilities: types,
		MaxConcurrency: int32(slots), Version: "go-example", Labels: map[string]string{"language": "go"}}
}

func (w *Worker) registered(answer registered, sent time.Time) {
	w.leaseUntil = sent.Add(time.Duration(answer.GetLeaseSec()) * time.Second * 9 / 10)
	if answer.GetLeaseId() != w.leaseID {
		w.leaseID = answer.GetLeaseId()
		log.Printf("registered as %s (incarnation %s), %d slots", w.ID, w.incarnation, w.Slots)
		for _, each := range w.links {
			if each.now != nil {
				each.now.close() // what it holds back was said to a registration that is gone
			}
		}
	}
	addresses := map[string]string{}
	for _, node := range answer.GetSchedulers() {
		addresses[node.NodeId] = node.Address
	}
	if len(addresses) == 0 {
		return
	}
	w.Known = nil
	for node, each := range w.links {
		if addresses[node] != each.address {
			each.stop()
			delete(w.links, node)
		}
	}
	for node, address := range addresses {
		w.Known = append(w.Known, address)
		if w.links[node] == nil {
			ctx, stop := context.WithCancel(context.Background())
			each := &link{address: address, stop: stop}
			w.links[node] = each
			go w.keepStream(ctx, node, each)
		}
	}
}

// call asks one node after the other; without an error and an answer none could answer.
func (w *Worker) call(life context.Context, ask func(context.Context, batonv1.WorkflowServiceClient) (any, error)) (any, error) {
	var known []string
	w.sync(func() { known = slices.Clone(w.Known) })
	for _, address := range known {
		connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, Refused(err.Error())
		}
		ctx, cancel := context.WithTimeout(life, callTimeout)
		answer, err := ask(ctx, batonv1.NewWorkflowServiceClient(connection))
		cancel()
		_ = connection.Close()
		if err == nil {
			return answer, nil
		}
		if status.Code(err) == codes.InvalidArgument {
			return nil, Refused(status.Convert(err).Message())
		}
		log.Printf("%s: %s", address, status.Convert(err).Message())
	}
	return nil, nil
}

func (w *Worker) sync(step func()) {
	done := make(chan struct{})
	w.do <- func() { step(); close(done) }
	<-done
}

// Streams.

func (w *Worker) keepStream(ctx context.Context, node string, to *link) {
	connection, err := grpc.NewClient(to.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Print(err)
		return
	}
	defer connection.Close()
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		if w.stream(ctx, node, to, batonv1.NewWorkflowServiceClient(connection)) {
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + mathrand.N(pause/2)):
		}
		pause = min(time.Second, 2*pause)
	}
}

// stream is there until it breaks; it tells whether the node has said anything.
func (w *Worker) stream(parent context.Context, node string, to *link, service batonv1.WorkflowServiceClient) bool {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	call, err := service.AssignTask(ctx)
	if err != nil {
		return false
	}
	opened := &conn{node: node, out: make(chan *batonv1.WorkerMessage, messagesAhead), close: cancel}
	w.do <- func() {
		opened.leaseID = w.leaseID
		to.now = opened
		w.say(opened, &batonv1.WorkerMessage{
			Hello: &batonv1.WorkerHello{WorkerId: w.ID, ProtocolVersion: 1}, Ping: &batonv1.Ping{Nonce: 1}})
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case message := <-opened.out:
				if call.Send(message) != nil {
					cancel()
				}
			}
		}
	}()
	heard := false
	for {
		message, err := call.Recv()
		if err != nil {
			w.do <- func() {
				if to.now == opened {
					to.now = nil
				}
			}
			if heard {
				log.Printf("the stream to %s has ended: %s", node, status.Convert(err).Message())
			}
			return heard
		}
		heard = true
		w.do <- func() {
			if to.now == opened {
				w.received(opened, message)
			}
		}
	}
}

func (w *Worker) say(to *conn, message *batonv1.WorkerMessage) {
	message.Generation, message.Term, message.Incarnation = w.generation, w.term, w.incarnation
	select {
	case to.out <- message:
	default:
		to.close() // it does not read; the next inventory repairs what is dropped
	}
}

func (w *Worker) tick() {
	for _, each := range w.links {
		if each.now == nil {
			continue
		}
		if each.now.unanswered >= unansweredPings {
			each.now.close()
		}
		each.now.unanswered++
		w.say(each.now, &batonv1.WorkerMessage{Ping: &batonv1.Ping{Nonce: 1}})
	}
}

// What the schedulers say.

func (w *Worker) received(from *conn, m *batonv1.SchedulerMessage) {
	if m.Ping != nil {
		w.say(from, &batonv1.WorkerMessage{Pong: &batonv1.Pong{Nonce: m.Ping.Nonce}})
	}
	if m.Pong != nil {
		from.unanswered = 0
	}
	if m.Term <= 0 || m.Incarnation != w.incarnation || m.Generation == 0 ||
		(w.generation != 0 && m.Generation != w.generation) ||
		m.Term < w.term || (m.Term == w.term && from.node != w.leader) {
		return
	}
	w.generation = m.Generation
	if m.Term > w.term {
		w.term, w.leader = m.Term, from.node
		log.Printf("scheduler %s leads, term %d", w.leader, w.term)
	}
	if m.TermStarted != nil || m.InventoryRequest != nil {
		from.greetedIn, w.inventory = w.term, true
	}
	for _, ack := range m.Acks { // first: they free the slots that the assignments beside them need
		key := nameOf(ack.Attempt)
		delete(w.outbox, key)
		if w.returned[key] {
			delete(w.returned, key)
			w.remember(key)
		}
	}
	for _, each := range m.Assignments {
		w.assigned(from, each)
	}
	if m.Drain != nil {
		w.drain()
	}
	for _, each := range m.Cancels {
		w.cancelled(nameOf(each.Attempt))
	}
}

func (w *Worker) assigned(from *conn, a *batonv1.TaskAssignment) {
	key := attempt{a.WorkflowId, a.TaskId, a.Attempt}
	switch {
	case w.running[key] != nil || w.outbox[key] != nil || w.lingering[key]:
	case w.returned[key]:
		w.news.returned = append(w.news.returned, key)
	case w.never[key]:
		w.news.unknown = append(w.news.unknown, key)
	case time.Now().After(w.leaseUntil) || from.leaseID != w.leaseID:
		// It may run elsewhere already; if not, the next inventory brings it again.
	case !w.draining && w.used() < w.Slots:
		ctx, cancel := context.WithCancel(context.Background())
		w.running[key] = &running{cancel: cancel}
		task := Task{a.WorkflowId, a.TaskId, a.TaskType, a.Attempt, a.IdempotencyKey, a.Params}
		go w.attempt(ctx, key, task, time.Duration(a.TimeoutMs)*time.Millisecond)
	case len(w.returned) < returnsKept:
		w.returned[key] = true
		w.news.returned = append(w.news.returned, key)
	}
}

func (w *Worker) cancelled(key attempt) {
	if it := w.running[key]; it != nil {
		it.cancelled = true
		it.cancel()
	} else if w.outbox[key] == nil && !w.lingering[key] {
		w.remember(key)
		w.news.unknown = append(w.news.unknown, key)
	}
}

func (w *Worker) remember(key attempt) {
	if !w.never[key] {
		w.never[key] = true
		w.neverOrder = append(w.neverOrder, key)
		if len(w.neverOrder) > neverKept {
			delete(w.never, w.neverOrder[0])
			w.neverOrder = w.neverOrder[1:]
		}
	}
}

func (w *Worker) lingers() []*batonv1.AttemptName {
	var names []*batonv1.AttemptName
	for key := range w.lingering {
		if w.outbox[key] == nil {
			names = append(names, key.name())
		}
	}
	return names
}

func (w *Worker) used() int { return len(w.running) + len(w.outbox) + len(w.lingers()) }

// What it says to the leader.

func (w *Worker) flush() {
	to := w.links[w.leader]
	if to == nil || to.now == nil || to.now.greetedIn != w.term {
		return
	}
	if w.inventory {
		w.inventory = false
		holds := &batonv1.Inventory{Lingering: w.lingers()}
		w.news.results, w.news.returned = nil, nil
		for key := range w.running {
			holds.Running = append(holds.Running, key.name())
		}
		for key := range w.outbox {
			holds.Results = append(holds.Results, key.name())
			w.news.results = append(w.news.results, key)
		}
		for key := range w.returned {
			holds.Returned = append(holds.Returned, key.name())
			w.news.returned = append(w.news.returned, key)
		}
		if !w.draining {
			holds.FreeSlots = int32(max(0, w.Slots-w.used()))
		}
		w.say(to.now, &batonv1.WorkerMessage{Inventory: holds})
	}
	message := &batonv1.WorkerMessage{}
	for _, key := range w.news.unknown {
		message.CancelledUnknown = append(message.CancelledUnknown, key.name())
	}
	for _, key := range w.news.returned {
		if w.returned[key] {
			message.Returned = append(message.Returned, key.name())
		}
	}
	for _, key := range w.news.results {
		if result := w.outbox[key]; result != nil {
			if proto.Size(message)+proto.Size(result) > messageBytes {
				w.say(to.now, message)
				message = &batonv1.WorkerMessage{}
			}
			message.Results = append(message.Results, result)
		}
	}
	if len(message.CancelledUnknown)+len(message.Returned)+len(message.Results) > 0 {
		w.say(to.now, message)
	}
	w.news.unknown, w.news.returned, w.news.results = nil, nil, nil
}

// Attempts.

func (w *Worker) attempt(ctx context.Context, key attempt, task Task, timeout time.Duration) {
	started := time.Now()
	returned := make(chan *batonv1.TaskResult, 1)
	handling, stop := context.WithCancel(ctx)
	defer stop()
	go func() { returned <- w.handle(handling, task) }()
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	var result *batonv1.TaskResult
	timedOut := false
	select {
	case result = <-returned:
	case <-ctx.Done():
	case <-late:
		timedOut = true
	}
	if result == nil {
		stop()
		select {
		case result = <-returned:
		case <-time.After(grace):
		}
	}
	lingers := result == nil
	if lingers {
		result = failed(errors.New("The handler has not returned."))
	}
	if timedOut {
		result = &batonv1.TaskResult{
			Status: batonv1.TaskResult_TIMEOUT, ErrorMessage: fmt.Sprintf("It ran longer than %s.", timeout)}
	}
	w.do <- func() {
		if w.running[key].cancelled && !timedOut && result.Status != batonv1.TaskResult_SUCCESS {
			result = &batonv1.TaskResult{Status: batonv1.TaskResult_CANCELLED}
		}
		result.RunId, result.TaskId, result.Attempt = key.run, key.task, key.number
		result.DurationMs = time.Since(started).Milliseconds()
		w.running[key].cancel()
		delete(w.running, key)
		w.outbox[key] = result
		w.news.results = append(w.news.results, key)
		if lingers {
			w.lingering[key] = true
		}
	}
	if lingers {
		<-returned
		w.do <- func() {
			delete(w.lingering, key)
			w.inventory = w.inventory || w.outbox[key] == nil // else nobody hears that the slot is free
		}
	}
}

// handle makes a failure of the attempt of whatever a handler does, a panic among it.
func (w *Worker) handle(ctx context.Context, task Task) (result *batonv1.TaskResult) {
	defer func() {
		if fault := recover(); fault != nil {
			result = failed(fmt.Errorf("The handler has panicked: %v", fault))
		}
	}()
	handler := w.Handlers[task.Type]
	if handler == nil {
		return failed(fmt.Errorf("This worker has no handler for '%s'.", task.Type))
	}
	value, err := handler(ctx, task)
	if err != nil {
		return failed(err)
	}
	output, err := json.Marshal(value)
	if err != nil {
		return failed(Fatal{err})
	}
	if len(output) > outputBytes {
		return failed(Fatal{fmt.Errorf("The output has %d bytes; %d are the limit.", len(output), outputBytes)})
	}
	return &batonv1.TaskResult{Status: batonv1.TaskResult_SUCCESS, OutputJson: string(output)}
}

func failed(err error) *batonv1.TaskResult {
	text := err.Error()
	return &batonv1.TaskResult{
		Status: batonv1.TaskResult_FAILED, ErrorMessage: text[:min(len(text), errorBytes)], Final: errors.As(err, new(Fatal))}
}
