// Simbody's side of the comparison: the least time of many short batches, by scene, in nanoseconds a unit.
//
// A scene is realized from Position to Dynamics with its forces and without; the difference is printed, which leaves out the
// kinematics of the bodies. Where the element remembers, its discrete variables are updated each time.
// `block_*` are whole runs, with all they consist of.
//
//     g++ -std=c++17 -O3 -DNDEBUG -I/usr/include/simbody simbody.cpp -lSimTKsimbody -lSimTKmath -lSimTKcommon

#include <Simbody.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#define HAS_CABLES __has_include(<simbody/internal/CableSpan.h>)
#define HAS_SPRINGS __has_include(<simbody/internal/ExponentialSpringForce.h>)
#if HAS_CABLES
#include <simbody/internal/CableSpan.h>
#endif
#if HAS_SPRINGS
#include <simbody/internal/ExponentialSpringForce.h>
#endif

using namespace SimTK;

namespace {

double least(int batches, int rounds, const std::function<void()>& round) {
    double least = std::numeric_limits<double>::infinity();
    for (int batch = 0; batch < batches; ++batch) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; ++i) round();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        least = std::min(least, taken.count() / rounds);
    }
    return 1e9 * least;
}

void stands(State& state) { state.invalidateAllCacheAtOrAbove(Stage::Position); }

struct Scene {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralContactSubsystem contacts{system};
    GeneralForceSubsystem forces{system};

    MobilizedBody add_body(double mass = 1, double inertia = 1) {
        return MobilizedBody::Free(matter.Ground(), Body::Rigid(MassProperties(mass, Vec3(0), Inertia(inertia))));
    }

    State start() {
        State state = system.realizeTopology();
        system.realizeModel(state);
        return state;
    }

    /// Realizes to Dynamics and, if asked, updates what is remembered, after `moves`.
    double round(State state, int rounds, bool commits, const std::function<void(State&)>& moves) {
        moves(state);
        system.realize(state, Stage::Dynamics);
        return least(30, rounds, [&] {
            moves(state);
            system.realize(state, Stage::Dynamics);
            if (commits) state.autoUpdateDiscreteVariables();
        });
    }

    /// By how much each of so many forces lengthens a round in which nothing moves.
    double cost(State state, int rounds, int count, bool commits) {
        const double with = round(state, rounds, commits, stands);
        for (int i = 0; i < forces.getNumForces(); ++i) forces.setForceIsDisabled(state, ForceIndex(i), true);
        return (with - round(state, rounds, commits, stands)) / count;
    }
};

double wave(int i) { return std::sin((i % 100000) * 1.618034); }

void scatter(State& state, const Array_<MobilizedBody>& bodies, double turn, double shift, double height) {
    for (int i = 0; i < int(bodies.size()); ++i) {
        const auto w = [&](int k) { return wave(7 * i + k); };
        Rotation R;
        R.setRotationToBodyFixedXYZ(turn * Vec3(w(0), w(1), w(2)));
        bodies[i].setQToFitTransform(state, Transform(R, shift * Vec3(w(3), w(4), w(5)) + Vec3(0, 0, height)));
        bodies[i].setUToFitVelocity(state, SpatialVec(Vec3(w(6), w(7), w(8)), Vec3(w(9), w(10), w(11))));
    }
}

double bushing() {
    const int count = 200;
    Scene scene;
    Array_<MobilizedBody> bodies;
    for (int i = 0; i <= count; ++i) bodies.push_back(scene.add_body());
    const Transform frame(Vec3(0.1, 0, 0.05)), inverse(Vec3(-0.1, 0, -0.05));
    for (int i = 0; i < count; ++i)
        Force::LinearBushing(scene.forces, bodies[i], frame, bodies[i + 1], inverse, Vec6(100), Vec6(1));
    State state = scene.start();
    scatter(state, bodies, 0.3, 0.1, 0);
    return scene.cost(state, 100, count, false);
}

/// Without the foundation nothing but the body remains: pairs are searched whether forces are disabled or not.
double foundation(bool is_on_mesh, double depth) {
    const auto time = [&](bool with_foundation) {
        Scene scene;
        const MobilizedBody body = scene.add_body();
        if (with_foundation) {
            const ContactSetIndex set = scene.contacts.createContactSet();
            ElasticFoundationForce foundation(scene.forces, scene.contacts, set);
            const ContactGeometry::TriangleMesh ball(PolygonalMesh::createSphereMesh(1, 5));
            // A half-space fills x > 0 of its frame; here z < 0 of Ground.
            const Transform below(Rotation(UnitVec3(0, 0, -1), XAxis));
            if (is_on_mesh) scene.contacts.addBody(set, scene.matter.Ground(), ball, Transform());
            else scene.contacts.addBody(set, scene.matter.Ground(), ContactGeometry::HalfSpace(), below);
            scene.contacts.addBody(set, body, ball, Transform());
            for (int i = is_on_mesh ? 0 : 1; i < 2; ++i)
                foundation.setBodyParameters(ContactSurfaceIndex(i), 1e6, 0.1, 0.9, 0.7, 0);
            foundation.setTransitionVelocity(0.01);
        }
        State state = scene.start();
        body.setQToFitTransform(state, Transform(Vec3(1e-4, 0, (is_on_mesh ? 2 : 1) - depth)));
        return scene.round(state, is_on_mesh ? 4 : 200, false, stands);
    };
    return time(true) - time(false);
}

#if HAS_SPRINGS
Array_<ExponentialSpringForce> corners(Scene& scene, const MobilizedBody& body) {
    Array_<ExponentialSpringForce> springs;
    for (int corner = 0; corner < 8; ++corner) {
        const auto side = [&](int bit) { return corner >> bit & 1 ? 0.1 : -0.1; };
        springs.emplace_back(scene.forces, Transform(), body, Vec3(side(0), side(1), side(2)));
    }
    return springs;
}

double spring() {
    const int count = 200;
    Scene scene;
    Array_<MobilizedBody> bodies;
    bodies.reserve(count / 8);  // Springs keep references to them.
    Array_<ExponentialSpringForce> springs;
    for (int i = 0; i < count / 8; ++i) {
        bodies.push_back(scene.add_body());
        for (const auto& spring : corners(scene, bodies.back())) springs.push_back(spring);
    }
    State state = scene.start();
    scatter(state, bodies, 0.01, 0.001, 0.103);
    scene.system.realize(state, Stage::Dynamics);
    for (auto& spring : springs) spring.resetAnchorPoint(state);
    return scene.cost(state, 100, count, true);
}

/// A block of 10 kg runs for 7 s; also tells the evaluations.
double block(double drop, double speed, double spin) {
    Scene scene;
    Force::UniformGravity(scene.forces, scene.matter, Vec3(0, 0, -9.80665));
    const MobilizedBody body = scene.add_body(10, 1);
    auto springs = corners(scene, body);
    State start = scene.start();
    Vec3 shape;
    springs[0].getParameters().getShapeParameters(shape[0], shape[1], shape[2]);
    const double resting = 0.1 + shape[0] - std::log(10 * 9.80665 / 4 / shape[1]) / shape[2];
    body.setQToFitTransform(start, Transform(Vec3(0, 0, resting + drop)));
    body.setUToFitVelocity(start, SpatialVec(Vec3(0, 0, spin), Vec3(speed, 0, 0)));
    scene.system.realize(start, Stage::Dynamics);
    for (auto& spring : springs) spring.resetAnchorPoint(start);
    int evaluations = 0;
    const double taken = least(5, 1, [&] {
        RungeKuttaMersonIntegrator integrator(scene.system);
        integrator.setAccuracy(1e-5);
        TimeStepper stepper(scene.system, integrator);
        stepper.initialize(start);
        const long before = scene.system.getNumRealizationsOfThisStage(Stage::Acceleration);
        stepper.stepTo(7);
        evaluations = int(scene.system.getNumRealizationsOfThisStage(Stage::Acceleration) - before);
    });
    std::fprintf(stderr, "%d evaluations\n", evaluations);
    return taken;
}
#endif

#if HAS_CABLES
class Elastic : public Force::Custom::Implementation {
public:
    Elastic(CableSpan cable, double slack) : cable(cable), slack(slack) {}
    void calcForce(const State& state, Vector_<SpatialVec>& bodies, Vector_<Vec3>&, Vector&) const override {
        const double stretch = cable.calcLength(state) - slack;
        if (stretch <= 0) return;
        const double tension = std::max(0.0, 100 * stretch * (1 + 0.1 * cable.calcLengthDot(state)));
        cable.applyBodyForces(state, tension, bodies);
    }
    double calcPotentialEnergy(const State& state) const override {
        const double stretch = std::max(0.0, cable.calcLength(state) - slack);
        return 50 * stretch * stretch;
    }
    bool dependsOnlyOnPositions() const override { return false; }

private:
    CableSpan cable;
    double slack;
};

/// One end moves a little at each evaluation. Without the cable nothing but the end remains.
double cable(const std::string& kind, int count) {
    const auto time = [&](bool with_cable) {
        Scene scene;
        const Body::Rigid body(MassProperties(1, Vec3(0), Inertia(1)));
        MobilizedBody& ground = scene.matter.updGround();
        MobilizedBody::Translation end(ground, body);
        std::unique_ptr<CableSubsystem> cables;
        if (with_cable) {
            cables = std::make_unique<CableSubsystem>(scene.system);
            CableSpan cable(*cables, ground, Vec3(-1.5, 0, 0), end, Vec3(0));
            cable.setSmoothnessTolerance(1e-9);
            cable.setAlgorithm(CableSpanAlgorithm::Scholz2015);
            for (int i = 0; i < count; ++i) {
                const double x = 2 * i, raised = 0.25 * (i % 2);
                if (kind == "torus") {
                    const Transform X(Rotation(Pi / 2, YAxis), Vec3(x, 1.6 + raised, 0));
                    cable.addObstacle(ground, X, std::make_shared<ContactGeometry::Torus>(2, 0.5), Vec3(0, -1.5, 0));
                    continue;
                }
                std::shared_ptr<ContactGeometry> solid;
                if (kind == "sphere") solid = std::make_shared<ContactGeometry::Sphere>(0.7);
                else solid = std::make_shared<ContactGeometry::Ellipsoid>(Vec3(0.7, 0.6, 1));
                cable.addObstacle(ground, Vec3(x, raised - 0.4, 0), solid, Vec3(0, 1, 0));
            }
            Force::Custom(scene.forces, new Elastic(cable, 1));
        }
        double a = 0;
        return scene.round(scene.start(), 100, true, [&](State& state) {
            const double x = 2 * count + 1 + 0.1 * std::sin(a);
            end.setQ(state, Vec3(x, 0.2 * std::sin(1.3 * a), 0.3 * std::sin(0.7 * a)));
            end.setU(state, Vec3(0.1, 0.2, 0.3));
            a += 0.01;
        });
    };
    return time(true) - time(false);
}
#endif

double measure(const std::string& scene) {
    if (scene == "bushing") return bushing();
    if (scene == "half_space_1") return foundation(false, 0.01);
    if (scene == "half_space_5") return foundation(false, 0.05);
    if (scene == "mesh_1") return foundation(true, 0.01);
    if (scene == "mesh_5") return foundation(true, 0.05);
#if HAS_SPRINGS
    if (scene == "spring") return spring();
    if (scene == "block_drop") return block(0.1, 0, 0);
    if (scene == "block_slide") return block(0, 4, 0);
    if (scene == "block_spin") return block(0, 0, 8);
    if (scene == "block_slide_and_spin") return block(0, 3, 8);
#endif
#if HAS_CABLES
    if (scene.rfind("cable_", 0) == 0) return cable(scene.substr(6, scene.size() - 8), scene.back() - '0');
#endif
    return std::nan("");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 1;
    std::printf("%.2f\n", measure(arguments[1]));
}
