"""sigs.k8s.io/controller-runtime: the layer that operators are written on.

`clientgo.controller_runtime.X` is pkg/X, file for file. It stands on the informers, the work queue, the leader election
and the clients of client-go; none of those know of it. What programs use most stands here, as in Go's alias.go:

    from clientgo import controller_runtime as ctrl
    from clientgo.api.apps import v1 as appsv1

    class FooReconciler:
        def __init__(self, client: client.Client) -> None:
            self.client = client

        def reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result | None:
            foo = self.client.get(ctx, request, Foo)
            ...

    mgr = ctrl.new_manager(ctrl.get_config_or_die())
    builder = ctrl.new_controller_managed_by(mgr).for_(Foo).owns(appsv1.Deployment)
    builder.complete(FooReconciler(mgr.get_client()))
    mgr.start(ctrl.setup_signal_handler())

Where Python and Go differ, everywhere here: a Reconciler, a Runnable, a handler of HTTP requests may also be a plain
function; what goes wrong is raised; kinds are given as classes (or as an example, for Unstructured), and reading
returns the object (`client.get(ctx, key, Foo)`) instead of filling one.

Texts of 2019 to 2021 use spellings that Go has given up since. What each has become (their Go, and ours):

    func (r *R) Reconcile(req ctrl.Request)           def reconcile(self, ctx, request)
    ctx := context.Background(), in Reconcile         the ctx that reconcile gets: it ends with the manager
    r.Log.WithValues("foo", req.NamespacedName)       ctrl.logger_from(ctx): has the object and a reconcileID already
    mgr.Start(ctrl.SetupSignalHandler()) of a stopCh  mgr.start(ctrl.setup_signal_handler()): it gives a context
    Start(stopCh <-chan struct{}) of a Runnable       def start(self, ctx), or a function of ctx
    &source.Kind{Type: &Foo{}}                        source.kind(mgr.get_cache(), Foo, handler, *predicates)
    c.Watch(&source.Kind{...}, handler, predicates)   c.watch(source.kind(...)): the source has the handler
    &source.Channel{Source: ch}                       source.channel(ch, handler)
    Watches(&source.Kind{Type: &Foo{}}, handler)      builder.watches(Foo, handler)
    &handler.EnqueueRequestForOwner{                  handler.enqueue_request_for_owner(
      OwnerType: &Foo{}, IsController: true}              scheme, mapper, Foo, handler.only_controller_owner())
    &handler.EnqueueRequestsFromMapFunc{ToRequests}   handler.enqueue_requests_from_map_func(lambda ctx, obj: [...])
    handler.MapObject, .Meta and .Object              the object itself
    CreateEvent.Meta, UpdateEvent.MetaOld             event.object, event.object_old: they have the accessors
    InjectClient, InjectCache, InjectScheme, ...      pass mgr.get_client() and the like where the object is made
    mgr.SetFields(x)                                  the same
    inject.Stoppable                                  the context of `start`
    controllerutil.CreateOrUpdate(ctx, c, &obj, f)    controllerutil.create_or_update(ctx, c, obj, f): unchanged
    client.ObjectKey from client.ObjectKeyFromObject  client.object_key_from_object(obj): it raises nothing
    runtime.Object in client calls                    client.Object: it has metadata
    Options{Namespace: ns}                            Options(cache=cache.Options(default_namespaces={ns: ...}))
    Options{MetricsBindAddress, Port, CertDir}        Options(metrics=..., webhook_server=...)
    Options{SyncPeriod, NewCache, ClientBuilder}      Options(cache=cache.Options(sync_period=...)), new_client
    webhook.Validator, webhook.Defaulter of a type    a validator or defaulter object given to the webhook builder
    scheme.Builder of pkg/runtime                     scheme.Builder
    ctrl.Result{Requeue: true}                        still there; raise an error, or use requeue_after
    mgr.GetEventRecorderFor                           still there; get_event_recorder gives events.k8s.io/v1 events
    log.Log = zap.Logger(true)                        ctrl.set_logger(zap.new(zap.use_dev_mode(True)))
"""

from typing import TYPE_CHECKING

from clientgo.utils.later import later

if TYPE_CHECKING:
    from clientgo.controller_runtime.alias import (
        LOG,
        Builder,
        GroupResource,
        GroupVersion,
        Manager,
        ObjectMeta,
        Options,
        Request,
        Result,
        SchemeBuilder,
        TypeMeta,
        create_or_patch,
        create_or_update,
        get_config,
        get_config_or_die,
        logger_from,
        logger_into,
        new_controller_managed_by,
        new_manager,
        new_webhook_managed_by,
        register_flags,
        set_controller_reference,
        set_logger,
        setup_signal_handler,
    )

__all__ = [
    "LOG",
    "Builder",
    "GroupResource",
    "GroupVersion",
    "Manager",
    "ObjectMeta",
    "Options",
    "Request",
    "Result",
    "SchemeBuilder",
    "TypeMeta",
    "create_or_patch",
    "create_or_update",
    "get_config",
    "get_config_or_die",
    "logger_from",
    "logger_into",
    "new_controller_managed_by",
    "new_manager",
    "new_webhook_managed_by",
    "register_flags",
    "set_controller_reference",
    "set_logger",
    "setup_signal_handler",
]

# Looked up when they are first used: `from clientgo.controller_runtime import event` need not import a manager.
if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__, {"alias": __all__})
