"""sigs.k8s.io/controller-runtime: the layer that operators are written on.

`clientgo.controller_runtime.X` is pkg/X, file for file. It builds on client-go's informers, work queue, leader election
and clients, which do not depend on it. Like Go's alias.go, this package re-exports the most used names:

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

Differences from Go that hold everywhere in this package: a Reconciler, a Runnable or an HTTP handler may also be a
plain function. Errors are raised. Callers name kinds by their classes (or by an example object, for Unstructured), and
a read returns the object (`client.get(ctx, key, Foo)`) instead of filling one.

Books and articles from 2019 to 2021 use names that Go has since removed. Their replacements (old Go on the left, this
package on the right):

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

from clientgo.lazy_loader import attach

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

# Loaded on first use, so that `from clientgo.controller_runtime import event` does not import a manager.
if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, {"alias": __all__})
